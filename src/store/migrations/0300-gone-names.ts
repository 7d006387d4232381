import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** The names of deleted lists and segments, for the campaigns that went to them. */
export const goneNames: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('gone_names')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
  },
}
