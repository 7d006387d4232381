import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Where nodes hear each other, and how often a node has to look at its queue because nobody reached it there. */
export const rings: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('nodes')
      .addColumn('address', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await schema
      .alterTable('nodes')
      .addColumn('wakes', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
