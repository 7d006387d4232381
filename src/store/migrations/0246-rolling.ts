import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** By which releases that are beside each other know whether they may be: what each node knows, and what was taken away. */
export const rolling: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const [table, column] of [
      ['nodes', 'schema'],
      ['releases', 'contracted'],
    ] as const) {
      await schema
        .alterTable(table)
        .addColumn(column, 'text', (c) => c.notNull().defaultTo(''))
        .execute()
    }
  },
}
