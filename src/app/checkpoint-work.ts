import { type Clock, hourMs, isRecent } from '../clock/index.js'
import type { Backlog } from '../deliveries/index.js'
import { allEntered } from '../emails/index.js'
import { holds } from '../nodes/index.js'
import { allRolledUp } from '../stats/index.js'
import type { Store } from '../store/index.js'

// A thread costs 12 MB while it is there, and 0.2 s of a processor to start.
const quietMs = 30_000
// A census that was under way may have counted before the last write; the next one counts after it.
const censuses = 2

/**
 * Whether the checkpoint thread has anything to do: somebody has written within half a minute, or its work behind the
 * writers is not done yet. The main thread is to ask every second. An appliance that only says that it is alive, with
 * mail for tomorrow or without, needs the thread just once an hour: the signs of life lengthen the log too, and a write
 * of another process may have been missed (`Store.deeds`).
 */
export function lookForCheckpointWork({
  store,
  clock,
  backlog,
}: {
  store: Pick<Store, 'read' | 'deeds' | 'node'>
  clock: Clock
  backlog: Pick<Backlog, 'outOfRoom' | 'counts'>
}): () => Promise<boolean> {
  let deeds: number | undefined
  let writtenAt = 0
  let countsThen = 0
  let doneAt: number | undefined
  return async () => {
    const [now, seen] = [clock.now(), store.deeds()]
    const isHourOver = doneAt !== undefined && !isRecent(doneAt, now, hourMs)
    // While the disk is full the thread cuts off the log.
    if (seen !== deeds || backlog.outOfRoom || isHourOver) {
      deeds = seen
      writtenAt = now
      countsThen = backlog.counts
      doneAt = undefined
    }
    if (doneAt !== undefined) return false
    if (isRecent(writtenAt, now, quietMs) || backlog.counts - countsThen < censuses) return true
    const isToCount = holds(store.node, 'figures')
    if (isToCount && !((await allEntered(store.read)) && (await allRolledUp(store.read))))
      return true
    doneAt = now
    return false
  }
}
