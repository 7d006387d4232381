import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What pages about automations ask: who reached the goal, who is at a step, who ended why; starts for segments. */
export const automationPages: Migration = {
  async up(db: Kysely<Tables>) {
    const { schema } = db
    await schema
      .alterTable('automations')
      .addColumn('reached', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('automation_backfills')
      .addColumn('is_segment', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema
      .createIndex('automation_live_step')
      .on('automation_live')
      .columns(['automation_id', 'step_id', 'id'])
      .execute()
    await schema
      .createIndex('automation_runs_why')
      .on('automation_runs')
      .columns(['automation_id', 'status', 'reason', 'id'])
      .execute()
    // People who were moved to a goal's step are not counted: only their history shows it.
    await db
      .updateTable('automations')
      .set((eb) => ({
        reached: eb
          .selectFrom('automation_runs')
          .select(sql<number>`count(*)`.as('runs'))
          .whereRef('automation_id', '=', 'automations.id')
          .where('status', '=', 'exited')
          .where('reason', '=', 'goal'),
      }))
      .execute()
  },
}
