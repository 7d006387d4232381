import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** How many people moves took from a step and brought to it, and the sender of an automation's new mails. */
export const movedCounts: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const name of ['moved_away', 'moved_here']) {
      await schema
        .alterTable('automation_steps')
        .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
    await schema.alterTable('automations').addColumn('usual_from', 'text').execute()
  },
}
