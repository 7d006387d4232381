import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type Store, writeApart } from '../store/index.js'
import { lift } from './suppress.js'

// Some 3 ms of the turn to write (2026-11).
const perWrite = 50

/**
 * Takes off the list what was to be on it for a while: in slices, between which clients that wait have
 * their turn, with a look at `signal`. One that cannot be taken off stays, and keeps no other there.
 */
export async function liftExpired(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const at = clock.now()
  let kept = 0
  while (!signal.aborted) {
    const over = await store.read
      .selectFrom('suppressions')
      .select(['account_id', 'address', 'reason'])
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .offset(kept)
      .limit(perWrite)
      .execute()
    const { faults, left, cause } = await writeApart(store.write, over, async (tx, some) => {
      for (const { account_id, address, reason } of some) {
        await lift(tx, account_id, address, { by: 'time', at, reasons: [reason] })
      }
    })
    if (left.length > 0) throw cause
    for (const { item, error } of faults) {
      const fields = { accountId: item.account_id, reason: item.reason, cause: messageOf(error) }
      log.error(fields, 'A suppression that is over could not be lifted')
    }
    kept += faults.length
    if (over.length < perWrite) return
  }
}
