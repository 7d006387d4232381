import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Keys of the operator's own programs. */
export const operatorKeys: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('operator_keys')
      .addColumn('id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('hash', 'blob', (column) => column.notNull().unique())
      .addColumn('last4', 'text', (column) => column.notNull())
      .addColumn('networks', 'text')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('expires_at', 'integer')
      .addColumn('last_used_at', 'integer')
      .addColumn('deleted_at', 'integer')
      .modifyEnd(plain)
      .execute()
  },
}
