import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Past campaigns that everybody may see, where their account wants that. */
export const campaignArchive: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('broadcasts')
      .addColumn('archive', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema
      .createIndex('broadcasts_archived')
      .on('broadcasts')
      .columns(['account_id', 'sent_at', 'id'])
      .where(sql.ref('archive'), '=', 1)
      .execute()
    await schema
      .alterTable('brands')
      .addColumn('archive_listed', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema
      .createTable('archives')
      .addColumn('account_id', 'text', (column) => column.primaryKey().references('accounts.id'))
      .addColumn('public_id', 'text', (column) => column.notNull().unique())
      .modifyEnd(plain)
      .execute()
  },
}
