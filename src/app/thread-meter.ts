import type { Clock } from '../clock/index.js'
import { type Meter, makeTally, type Snapshot, silentMeter } from '../metrics/index.js'

/** For the group commit, `openStore`'s `onCommit`. */
export function countCommits(meter: Meter): (works: number, seconds: number) => void {
  return (works, seconds) => {
    meter.count('posthorn_commits_total', {})
    meter.count('posthorn_commit_works_total', {}, works)
    meter.observe('posthorn_commit_seconds', {}, seconds)
  }
}

const tellEveryMs = 2_000

/** A worker thread's tally, sent to the main thread every two seconds and once more at the end. */
export function openThreadMeter(
  enabled: boolean,
  clock: Clock,
  tell: (snapshot: Snapshot) => void,
): { meter: Meter; close(): void } {
  if (!enabled) return { meter: silentMeter, close() {} }
  const tally = makeTally()
  const plan = (): (() => void) =>
    clock.after(tellEveryMs, () => {
      tell(tally.take())
      cancel = plan()
    })
  let cancel = plan()
  return {
    meter: tally,
    close() {
      cancel()
      tell(tally.take())
    },
  }
}
