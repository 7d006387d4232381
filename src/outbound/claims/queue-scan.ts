import { nextTurn } from '../../bounded/index.js'
import { type StreamDue, streamsAfter } from '../../deliveries/index.js'
import { type Admission, classes } from '../admission/index.js'
import type { OutboundDeps } from '../deps.js'

/** Looks through the queue for streams of this thread that have something due. */
export interface QueueScan {
  /** True when the thread works this lane. */
  isMine(lane: string): boolean
  /** Looks through the whole queue. */
  scan(): Promise<void>
  /** Scans now, and every 30 s from then on. */
  start(): void
  /** Resolves when the scan under way has ended. */
  stop(): Promise<void>
}

// Streams a query; between two queries the event loop has its turn.
const streamsPerScan = 1_000
// Rings get lost and other processes write, so the queue is looked through this often in any case.
const scanEveryMs = 30_000

/** `onFound`: called when the admission was told of more streams. */
export function makeQueueScan(
  deps: Pick<OutboundDeps, 'store' | 'clock' | 'log' | 'thread' | 'threads'>,
  admission: Pick<Admission, 'note' | 'sweep'>,
  onFound: () => void,
): QueueScan {
  const { store, clock, log, thread, threads } = deps
  let stopped = false
  let cancel = () => {}
  let scanning = Promise.resolve()

  /** By lane and class, so that each is told once. */
  const leftAlone = new Set<string>()
  const leaveAlone = ({ lane, class: of, accountId }: StreamDue) => {
    const name = `${lane} ${of}`
    if (leftAlone.has(name)) return
    leftAlone.add(name)
    log.error({ lane, class: of, accountId }, 'Mail of a class that Posthorn does not know is left')
  }

  const isMine = (lane: string) => shardOf(lane, threads) === thread
  const scan = async () => {
    admission.sweep()
    let last: StreamDue | undefined
    do {
      const found = await streamsAfter(store.read, store.node.number, last, streamsPerScan)
      for (const due of found.filter(({ lane }) => isMine(lane))) {
        if (classes.includes(due.class)) admission.note(due)
        else leaveAlone(due)
      }
      onFound()
      last = found.length < streamsPerScan ? undefined : found.at(-1)
      await nextTurn()
    } while (last !== undefined && !stopped)
  }
  const start = () => {
    scanning = scan()
      .catch((error) => log.error({ error }, 'The queue could not be read'))
      .finally(() => {
        if (!stopped) cancel = clock.after(scanEveryMs, start)
      })
  }

  return {
    isMine,
    scan,
    start,
    stop() {
      stopped = true
      cancel()
      return scanning
    },
  }
}

/** Which of the threads works a lane. It is always the same one, so that it alone knows the destination. */
export function shardOf(lane: string, threads: number): number {
  // FNV-1a
  let hash = 0x811c9dc5
  for (let i = 0; i < lane.length; i++) {
    hash = Math.imul(hash ^ lane.charCodeAt(i), 0x01000193)
  }
  return (hash >>> 0) % threads
}
