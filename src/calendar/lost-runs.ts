import type { Tx } from '../store/index.js'
import { lastRuns } from './runs.js'

/**
 * At the start: ends the rows of runs that a kill has left under way. Returns, by the job's name, the due time
 * of each last run that a kill or a stop has cut off, to be made up for; but not of one that was cut off
 * twice, which may be what brings the process down.
 */
export async function settleLostRuns(tx: Tx): Promise<Map<string, number>> {
  await tx
    .updateTable('job_runs')
    .set({ result: 'cut off', error: 'The appliance ended while the job was under way' })
    .where('result', '=', 'running')
    .execute()
  const lost = new Map<string, number>()
  for (const [name, { result, dueAt }] of await lastRuns(tx)) {
    if (result !== 'cut off' || dueAt === null) continue
    const { tries } = await tx
      .selectFrom('job_runs')
      .select(({ fn }) => fn.countAll<number>().as('tries'))
      .where('name', '=', name)
      .where('due_at', '=', dueAt)
      .executeTakeFirstOrThrow()
    if (tries < 2) lost.set(name, dueAt)
  }
  return lost
}
