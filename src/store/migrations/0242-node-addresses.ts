import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Which node sends from an address, which other nodes name it too, and what a node wants in the DNS of each domain. */
export const nodeAddresses: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('node_addresses')
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('owner', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('node_addresses_key', ['address', 'node'])
      .modifyEnd(plain)
      .execute()
    await schema
      .alterTable('nodes')
      .addColumn('records', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
