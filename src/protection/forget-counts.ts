import type { Clock } from '../clock/index.js'
import type { Store } from '../store/index.js'
import { forgetAddresses } from './once.js'
import { forgetIdle } from './window.js'

/**
 * Deletes what has slid out of the window that rates are counted over: of accounts that mail no more, and the
 * addresses that were counted once. In slices, with a look at `signal` between them; rates do not change by it.
 */
export async function forgetOldCounts(
  { store, clock }: { store: Store; clock: Clock },
  windowMs: number,
  signal: AbortSignal,
): Promise<{ accounts: number; addresses: number }> {
  const window = { now: clock.now(), windowMs }
  const all = async (forget: typeof forgetAddresses) => {
    let forgotten = 0
    for (let some = 1; some > 0 && !signal.aborted; forgotten += some) {
      some = await store.write((tx) => forget(tx, window))
    }
    return forgotten
  }
  return { accounts: await all(forgetIdle), addresses: await all(forgetAddresses) }
}
