import { type Clock, pause } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { type HeldBy, type Store, writeApart } from '../store/index.js'
import { queueChanges } from './change.js'

// Writing so many takes some ms, and a rest between them, as in `select.ts`.
const idsPerWrite = 500
const breatheMs = 30
// Deliveries that cannot be changed are passed over in each slice, and told.
const mostFaulty = 500

/** What is held of an account for one cause, since before `until` (ms); undefined: all of it. */
export interface HeldOf {
  accountId: string
  heldBy: HeldBy
  until: () => Promise<number | undefined>
}

/**
 * Releases, or gives up, what is held of an account for one cause since before `until`, in short transactions. An id
 * does not tell the time: ids of a burst run ahead of the clock. `until` is asked before each slice. A slice is the
 * first rows of an index, which the change takes out of it, so that a slice of a million costs no more than one of a
 * thousand. Resolves with whether nothing is left.
 */
export async function changeHeld(
  deps: { store: Store; clock: Clock; log: Log; land: LandEvents },
  { accountId, heldBy, until }: HeldOf,
  { name, reason }: { name: 'release' | 'fail'; reason: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const { store, clock, log, land } = deps
  const faulty: number[] = []
  for (;;) {
    if (signal?.aborted) return false
    const before = await until()
    const rows = await store.read
      .selectFrom('queue')
      .select('id')
      .where('account_id', '=', accountId)
      .where('held_at', 'is not', null)
      .where('held_by', '=', heldBy)
      .$if(before !== undefined, (query) => query.where('held_at', '<', before ?? 0))
      .$if(faulty.length > 0, (query) => query.where('id', 'not in', faulty))
      .limit(idsPerWrite)
      .execute()
    if (rows.length === 0) return true
    const ids = rows.map(({ id }) => id)
    const { faults, left, cause } = await writeApart(store.write, ids, (tx, some) =>
      queueChanges[name].apply(tx, some, { reason, land, now: clock.now() }),
    )
    if (left.length > 0) throw cause
    for (const { item, error } of faults) {
      faulty.push(item)
      log.error({ delivery: item, cause: messageOf(error) }, 'A held delivery cannot be changed')
    }
    if (faulty.length > mostFaulty) return true
    await pause(clock, breatheMs, signal)
  }
}
