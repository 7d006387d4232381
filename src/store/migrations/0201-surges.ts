import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Floods of mail to addresses that an account never mailed before. */
export const surges: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('subscriptions').addColumn('surge_id', 'text').execute()
    await schema.alterTable('subscriptions').addColumn('unbraked_until', 'integer').execute()
    await schema
      .createTable('surges')
      .addColumn('id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('began_at', 'integer', (column) => column.notNull())
      .addColumn('usual', 'integer', (column) => column.notNull())
      .addColumn('most', 'integer', (column) => column.notNull())
      .addColumn('mails', 'integer', (column) => column.notNull())
      .addColumn('held', 'integer', (column) => column.notNull())
      .addColumn('sources', 'text', (column) => column.notNull())
      .addColumn('decision', 'text')
      .addColumn('decided_at', 'integer')
      .addColumn('decided_by', 'text')
      .addColumn('ended_at', 'integer')
      .addColumn('announced', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
    await schema.createIndex('surges_account').on('surges').columns(['account_id', 'id']).execute()
    await schema
      .createIndex('surges_unended')
      .on('surges')
      .columns(['id'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute()
    await schema
      .createIndex('surges_unannounced')
      .on('surges')
      .columns(['id'])
      .where(sql.ref('announced'), '=', 0)
      .execute()
  },
}
