import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** How releases that run side by side know whether they may: what each node knows, and what was removed. */
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
