import TinyQueue from 'tinyqueue'
import { isRecent } from '../../clock/index.js'
import type { StreamDue } from '../../deliveries/index.js'
import type { QueueClass } from '../../store/index.js'
import type { SiteName } from '../shaping/index.js'
import { addStream, findStream, removeStream } from './lane-streams.js'
import { earliestFirst, type Lane, type Stream, secondOf } from './waiting.js'

/**
 * Which streams have something, and when. Only what has a backlog is kept, so memory does not follow
 * the number of waiting rows. Losing all of it loses nothing: the table is the truth.
 */
export interface Lanes {
  /** Learns that a stream has, or may have, a delivery that falls due then. */
  note(due: StreamDue): void
  /** The streams that have fallen due since the last call. */
  wake(now: number): Stream[]
  /** After a claim took all that was due: nothing more before `dueAt` (undefined: nothing). */
  exhausted(stream: Stream, dueAt: number | undefined): void
  find(lane: string, of: QueueClass, accountId: string): Stream | undefined
  /** The lane's site, as far as it is known. */
  siteOf(lane: string): SiteName | undefined
  /** Where mail goes has to be looked up anew. */
  forgetSites(): void
  /** Forgets lanes that had nothing for a while. */
  sweep(now: number): void
  /** When the next stream that is not due yet will be; undefined for never. */
  wakeAt(): number | undefined
}

// An idle lane is kept for so long: if mail comes soon, its site need not be looked up again.
const forgetAfterMs = 300_000

/**
 * What the thread knows of the queue without asking the database: for each domain which streams
 * have something due, and when the next becomes due. A claim is made only where this says that it
 * would find something.
 */
export function makeLanes(): Lanes {
  const lanes = new Map<string, Lane>()
  const later = new TinyQueue<{ at: number; stream: Stream }>([], earliestFirst)
  const accountIds = new Map<string, string>()
  /** Each row that is read brings a new string of the id; all streams of an account share this one. */
  const oneOf = (accountId: string) => {
    const known = accountIds.get(accountId)
    if (known === undefined) accountIds.set(accountId, accountId)
    return known ?? accountId
  }

  const sleep = (stream: Stream, dueAt: number) => {
    stream.state = 'later'
    stream.dueAt = dueAt
    later.push({ at: dueAt, stream })
  }
  const laneOf = (name: string): Lane => {
    let lane = lanes.get(name)
    if (lane === undefined) {
      lane = {
        name,
        streams: undefined,
        site: undefined,
        server: undefined,
        routedSecond: 0,
        usedSecond: 0,
      }
      lanes.set(name, lane)
    }
    return lane
  }

  return {
    note({ lane: name, class: of, accountId, dueAt }) {
      const lane = laneOf(name)
      let stream = findStream(lane, of, accountId)
      if (stream === undefined) {
        stream = makeStream(lane, of, oneOf(accountId))
        addStream(lane, stream)
      }
      if (stream.claiming) stream.notedAt = Math.min(stream.notedAt ?? dueAt, dueAt)
      else if (stream.state === 'idle' || (stream.state === 'later' && dueAt < stream.dueAt)) {
        sleep(stream, dueAt)
      }
    },
    wake(now) {
      const due: Stream[] = []
      for (let first = later.peek(); first !== undefined && first.at <= now; first = later.peek()) {
        later.pop()
        const { stream } = first
        // An entry that does not agree with its stream is an old one.
        if (stream.state !== 'later' || stream.dueAt !== first.at) continue
        stream.state = 'due'
        stream.lane.usedSecond = secondOf(now)
        due.push(stream)
      }
      return due
    },
    exhausted(stream, dueAt) {
      const never = Number.POSITIVE_INFINITY
      const next = Math.min(dueAt ?? never, stream.notedAt ?? never)
      stream.notedAt = undefined
      if (Number.isFinite(next)) return sleep(stream, next)
      stream.state = 'idle'
      removeStream(stream)
    },
    find(name, of, accountId) {
      const lane = lanes.get(name)
      return lane && findStream(lane, of, accountId)
    },
    siteOf: (lane) => lanes.get(lane)?.site,
    forgetSites() {
      for (const lane of lanes.values()) lane.site = undefined
    },
    sweep(now) {
      accountIds.clear()
      for (const { name, streams, usedSecond } of lanes.values()) {
        const isUsed = isRecent(usedSecond, secondOf(now), secondOf(forgetAfterMs))
        if (streams === undefined && !isUsed) lanes.delete(name)
      }
    },
    wakeAt: () => later.peek()?.at,
  }
}

/** A stream begins idle; the doorbell or the scan of the queue tells when it has something due. */
const makeStream = (lane: Lane, of: QueueClass, accountId: string): Stream => ({
  lane,
  class: of,
  accountId,
  state: 'idle',
  dueAt: Number.POSITIVE_INFINITY,
  notedAt: undefined,
  claiming: false,
  awaitsSite: false,
  path: undefined,
})
