import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import type { Store } from '../store/index.js'
import type { Backlog } from './backlog.js'
import { fail } from './give-up.js'
import { isInFlight } from './held.js'

const perWrite = 200
const why = 'Given up: it could not be delivered in its time'

/**
 * Ends as `failed` what has waited for longer than it may. An attempt sees to that by itself; this is for
 * mail that had none in time: its site was suspended, its account paused, its rate used up. What is held
 * back waits on: release gives it its time again.
 */
export async function expireOverdue(
  deps: { store: Store; clock: Clock; backlog: Backlog; land: LandEvents },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, backlog, land } = deps
  while (!signal.aborted) {
    const now = clock.now()
    const rows = await store.read
      .selectFrom('queue')
      .select('id')
      .where('expires_at', '<=', now)
      .where('held_at', 'is', null)
      .where(({ not }) => not(isInFlight(now)))
      .limit(perWrite)
      .execute()
    if (rows.length === 0) return
    const ids = rows.map(({ id }) => id)
    const ended = await store.write((tx) => fail(tx, ids, { why, now, land }))
    backlog.change(-ended)
    if (ended === 0) return
  }
}
