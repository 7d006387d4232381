import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/** How many runs were ended by a step, an event or the goal: none of those people has left. */
export const meantEnds: Migration = {
  async up(db: Kysely<Tables>) {
    for (const name of ['by_step', 'by_event', 'by_goal']) {
      await db.schema
        .alterTable('automations')
        .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
    // The counts of such steps outlive the runs, which are deleted after a while.
    await db
      .updateTable('automations')
      .set((eb) => {
        const logged = (reason: string) =>
          eb
            .selectFrom('automation_runs')
            .select(sql<number>`count(*)`.as('runs'))
            .whereRef('automation_id', '=', 'automations.id')
            .where('status', '=', 'exited')
            .where('reason', '=', reason)
        const counted = eb
          .selectFrom('automation_steps')
          .select(sql<number>`coalesce(sum(done), 0)`.as('runs'))
          .whereRef('automation_id', '=', 'automations.id')
          .where('type', '=', 'exit')
        return {
          by_step: sql<number>`${counted} + ${logged('timed_out')}`,
          by_event: logged('exit_rule'),
          by_goal: logged('goal'),
        }
      })
      .execute()
  },
}
