import type { Clock } from '../clock/index.js'
import { type Meter, makeTally, type Snapshot, silentMeter } from '../metrics/index.js'
import type { StoreOptions } from '../store/index.js'
import { watchLoop } from './watch-loop.js'

/** For the group commit: what `openStore` is given. */
export function countCommits(meter: Meter): Required<Pick<StoreOptions, 'onCommit' | 'onTurn'>> {
  return {
    onCommit(works, seconds) {
      meter.count('posthorn_commits_total', {})
      meter.count('posthorn_commit_works_total', {}, works)
      meter.observe('posthorn_commit_seconds', {}, seconds)
    },
    onTurn: (seconds) => meter.observe('posthorn_turn_wait_seconds', {}, seconds),
  }
}

export const tellEveryMs = 2_000

/**
 * A worker thread's tally, sent to the main thread every two seconds and once more at the end. It is sent,
 * empty, when metrics are off too: it shows that the thread's event loop turns.
 */
export function openThreadMeter(
  enabled: boolean,
  clock: Clock,
  name: string,
  tell: (snapshot: Snapshot) => void,
): { meter: Meter; close(): void } {
  const tally = makeTally()
  const meter = enabled ? tally : silentMeter
  const loop = watchLoop(meter, name)
  const plan = (): (() => void) =>
    clock.after(tellEveryMs, () => {
      loop.read()
      tell(tally.take())
      cancel = plan()
    })
  let cancel = plan()
  return {
    meter,
    close() {
      cancel()
      loop.close()
      tell(tally.take())
    },
  }
}
