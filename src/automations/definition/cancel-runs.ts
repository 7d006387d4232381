import { idsIn } from '../../store/index.js'
import type { AutomationDeps } from './automation.js'
import { cancelRows } from './state.js'

/** Stops some live runs of an automation; those that have ended since are left alone. Resolves with how many it stopped. */
export async function cancelRuns(
  { store, clock }: AutomationDeps,
  automationId: string,
  ids: readonly string[],
  reason: string,
): Promise<number> {
  return await store.write(async (tx) => {
    const rows = await tx
      .selectFrom('automation_live')
      .select(['id', 'step_id', 'history', 'started_at'])
      .where('id', 'in', idsIn(ids, 'text'))
      .where('automation_id', '=', automationId)
      .execute()
    await cancelRows(tx, rows, reason, clock.now())
    return rows.length
  })
}
