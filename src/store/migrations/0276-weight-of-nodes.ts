import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** How much of the duties a node takes, beside those of the others. */
export const weightOfNodes: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('nodes')
      .addColumn('weight', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
  },
}
