import { type Clock, pause } from '../../clock/index.js'
import type { Store } from '../../store/index.js'
import { cancelRuns } from '../definition/index.js'
import { findRuns, type RunsFilter } from '../runs/index.js'

// Runs a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/** Stops the live runs of an automation that fit, about `most` of them; resolves with how many, and whether there are more. */
export async function cancelFitting(
  deps: { store: Store; clock: Clock },
  automationId: string,
  filter: RunsFilter,
  { most, reason }: { most: number; reason: string },
): Promise<{ cancelled: number; isAll: boolean }> {
  let cancelled = 0
  for (let before: string | undefined; ; ) {
    const asked = { limit: perWrite, before }
    const { runs, next } = await findRuns(deps.store.read, automationId, filter, asked)
    const live = runs.filter(({ status }) => status === 'running' || status === 'waiting')
    const ids = live.map(({ id }) => id)
    if (ids.length > 0) cancelled += await cancelRuns(deps, automationId, ids, reason)
    if (next === undefined) return { cancelled, isAll: true }
    if (cancelled >= most) return { cancelled, isAll: false }
    before = next
    await pause(deps.clock, restMs)
  }
}
