import type { StreamDue } from '../../deliveries/index.js'
import type { QueueClass } from '../../store/index.js'
import type { SiteName } from '../shaping/index.js'
import { makeTimeHeap } from './time-heap.js'
import type { Lane, Stream } from './waiting.js'

/**
 * Which streams have something, and when. Only what has a backlog is kept, so memory does not follow
 * the number of waiting rows. Losing all of it loses nothing: the table is the truth.
 */
export interface Lanes {
  /** Learns that a stream has, or may have, a delivery that falls due then. */
  note(due: StreamDue): void
  /** Those that have fallen due since the last call. */
  wake(now: number): Stream[]
  /** After a claim took all that was due: nothing more before `dueAt` (undefined: nothing). */
  exhausted(stream: Stream, dueAt: number | undefined): void
  find(lane: string, of: QueueClass, accountId: string): Stream | undefined
  /** As far as it is known. */
  siteOf(lane: string): SiteName | undefined
  /** Where mail goes has to be looked up anew. */
  forgetSites(): void
  /** Forgets lanes that had nothing for a while. */
  sweep(now: number): void
  /** When the next stream that is not due yet will be; undefined for never. */
  wakeAt(): number | undefined
}

// An idle lane is kept for so long: one that comes again soon need not look for its site again.
const forgetAfterMs = 300_000

/**
 * What the thread knows of the queue without asking the database: for each domain which streams
 * have something due, and when the next becomes due. A claim is made only where this says that it
 * would find something.
 */
export function makeLanes(): Lanes {
  const lanes = new Map<string, Lane>()
  const later = makeTimeHeap<Stream>()

  const sleep = (stream: Stream, dueAt: number) => {
    stream.state = 'later'
    stream.dueAt = dueAt
    later.push(dueAt, stream)
  }
  const laneOf = (name: string): Lane => {
    let lane = lanes.get(name)
    if (lane === undefined) {
      lane = {
        name,
        streams: new Map(),
        site: undefined,
        server: undefined,
        routedAt: 0,
        usedAt: 0,
      }
      lanes.set(name, lane)
    }
    return lane
  }

  return {
    note({ lane: name, class: of, accountId, dueAt }) {
      const lane = laneOf(name)
      const key = nameOf(of, accountId)
      let stream = lane.streams.get(key)
      if (stream === undefined) {
        stream = makeStream(lane, of, accountId)
        lane.streams.set(key, stream)
      }
      if (stream.claiming) stream.notedAt = Math.min(stream.notedAt, dueAt)
      else if (stream.state === 'idle' || (stream.state === 'later' && dueAt < stream.dueAt)) {
        sleep(stream, dueAt)
      }
    },
    wake(now) {
      const due: Stream[] = []
      for (
        let first = later.first();
        first !== undefined && first.at <= now;
        first = later.first()
      ) {
        later.pop()
        const stream = first.item
        // An entry that says something else than its stream is left over from a later time.
        if (stream.state !== 'later' || stream.dueAt !== first.at) continue
        stream.state = 'due'
        stream.lane.usedAt = now
        due.push(stream)
      }
      return due
    },
    exhausted(stream, dueAt) {
      const next = Math.min(dueAt ?? Number.POSITIVE_INFINITY, stream.notedAt)
      stream.notedAt = Number.POSITIVE_INFINITY
      if (Number.isFinite(next)) return sleep(stream, next)
      stream.state = 'idle'
      stream.lane.streams.delete(nameOf(stream.class, stream.accountId))
    },
    find: (lane, of, accountId) => lanes.get(lane)?.streams.get(nameOf(of, accountId)),
    siteOf: (lane) => lanes.get(lane)?.site,
    forgetSites() {
      for (const lane of lanes.values()) lane.site = undefined
    },
    sweep(now) {
      for (const lane of lanes.values()) {
        if (lane.streams.size === 0 && now - lane.usedAt >= forgetAfterMs) lanes.delete(lane.name)
      }
    },
    wakeAt: () => later.first()?.at,
  }
}

/** The key of a stream within its lane. */
const nameOf = (of: QueueClass, accountId: string) => `${of} ${accountId}`

/** A stream begins idle; the doorbell or the scan of the queue tells when it has something due. */
const makeStream = (lane: Lane, of: QueueClass, accountId: string): Stream => ({
  lane,
  class: of,
  accountId,
  state: 'idle',
  dueAt: Number.POSITIVE_INFINITY,
  notedAt: Number.POSITIVE_INFINITY,
  claiming: false,
  path: undefined,
})
