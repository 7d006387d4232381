import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Which appliance holds a database that several could open. */
export const nodesTable: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('nodes')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('held_until', 'integer', (column) => column.notNull())
      .addColumn('beat', 'integer', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
  },
}
