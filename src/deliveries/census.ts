import { type Clock, type Repeating, repeat } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store } from '../store/index.js'
import type { Backlog } from './backlog.js'
import { measureDepth } from './depth.js'
import { classNames } from './inspect.js'

const everyMs = 10_000
// At most a fiftieth of the thread's time, however long the queue.
const restFactor = 50

/**
 * Counts the queue now and then for the metrics, and puts the shared backlog right: other processes
 * (the CLI) change the queue too. For a thread that nobody waits for.
 */
export function startCensus(deps: {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  backlog: Backlog
}): Repeating {
  const { store, clock, log, meter, backlog } = deps

  const count = async () => {
    const known = backlog.size
    const depth = await measureDepth(store.read)
    let total = 0
    for (const name of classNames) {
      const { deliveries, oldestAt, dueAt } = depth[name]
      const ageMs = oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt)
      total += deliveries
      meter.gauge('posthorn_queue_deliveries', { class: name }, deliveries)
      meter.gauge('posthorn_queue_oldest_seconds', { class: name }, ageMs / 1_000)
      // A lease, a hold and a plan for later put the due time ahead.
      const lateMs = dueAt === undefined ? 0 : Math.max(0, clock.now() - dueAt)
      meter.gauge('posthorn_queue_due_seconds', { class: name }, lateMs / 1_000)
    }
    // What the threads have changed meanwhile stays in.
    backlog.correct(total - known)
  }
  return repeat(clock, async () => {
    const began = clock.now()
    await count().catch((error: unknown) =>
      log.error({ cause: messageOf(error) }, 'The queue could not be counted'),
    )
    return Math.max(everyMs, restFactor * (clock.now() - began))
  })
}
