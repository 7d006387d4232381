import type { StreamDue } from '../deliveries/index.js'
import { type QueueClass, queueClass } from '../store/index.js'
import { makeTimeHeap } from './time-heap.js'

/**
 * What one account has waiting for one destination in one class.
 *
 *   idle ──note──▶ later ──its time──▶ due
 *     ▲              ▲                  │
 *     └── claimed empty: nothing / next due
 */
export interface Stream {
  readonly lane: Lane
  readonly class: QueueClass
  readonly accountId: string
  state: 'idle' | 'later' | 'due'
  /** When it next has to be looked at, while `later`. */
  dueAt: number
  /** The earliest time noted while a claim was under way: the claim may not have seen that row. */
  notedAt: number
  claiming: boolean
}

/** A recipient domain that has mail waiting or under way. */
export interface Lane {
  readonly name: string
  readonly streams: Map<string, Stream>
  /** Those due, by class, in the order of their turns. */
  readonly due: Record<QueueClass, Set<Stream>>
  /** Attempts under way. */
  inFlight: number
}

export interface Want {
  stream: Stream
  limit: number
}

/** How many attempts may run at once. */
export interface Bounds {
  perLane: number
  /** Over all lanes. */
  total: number
  /** The most rows that one claim asks for. */
  perClaim: number
}

/**
 * Which streams to look at, and when: transactional before automation before campaign, lanes in turn
 * within a class, accounts in turn within a lane. Only what has a backlog is kept, so memory does not
 * follow the number of waiting rows. Losing all of it loses nothing: the table is the truth.
 */
export interface Lanes {
  /** Learns that a stream has, or may have, a delivery that falls due then. */
  note(due: StreamDue): void
  /** What to claim now. Whoever is given something goes to the end of the line. */
  wanted(now: number): Want[]
  /** Attempts have begun or ended. */
  started(lane: Lane, attempts: number): void
  ended(lane: Lane): void
  /** After a claim took all that was due: nothing more before `dueAt` (undefined: nothing). */
  exhausted(stream: Stream, dueAt: number | undefined): void
  /** Forgets streams of which nothing waits, and the lane if nothing runs either. */
  drop(lane: Lane): void
  /** When the next stream that is not due yet will be; undefined for never. */
  wakeAt(): number | undefined
}

const classes: readonly QueueClass[] = [
  queueClass.transactional,
  queueClass.automation,
  queueClass.campaign,
]

/** What only transactional mail may use of a limit: a fifth, or with a limit of 1 nothing. */
export const reserveOf = (limit: number) => (limit <= 1 ? 0 : Math.max(1, Math.floor(limit / 5)))

export function makeLanes(bounds: Bounds): Lanes {
  const lanes = new Map<string, Lane>()
  // Lanes with due streams of a class and perhaps room for them. A visited one goes to the end, and
  // one without room leaves until an attempt of it ends.
  const lines: Record<QueueClass, Set<Lane>> = { 0: new Set(), 1: new Set(), 2: new Set() }
  const later = makeTimeHeap<Stream>()
  let inFlight = 0

  const sleep = (stream: Stream, dueAt: number) => {
    stream.state = 'later'
    stream.dueAt = dueAt
    later.push(dueAt, stream)
  }
  const stand = (stream: Stream) => {
    stream.state = 'due'
    stream.lane.due[stream.class].add(stream)
    lines[stream.class].add(stream.lane)
  }
  const wake = (now: number) => {
    for (let first = later.first(); first !== undefined && first.at <= now; first = later.first()) {
      later.pop()
      // An entry that says something else than its stream is left over from a later time.
      if (first.item.state === 'later' && first.item.dueAt === first.at) stand(first.item)
    }
  }
  const usable = (limit: number, of: QueueClass) =>
    of === queueClass.transactional ? limit : limit - reserveOf(limit)

  return {
    note({ lane: name, class: of, accountId, dueAt }) {
      let lane = lanes.get(name)
      if (lane === undefined) {
        lane = {
          name,
          streams: new Map(),
          due: { 0: new Set(), 1: new Set(), 2: new Set() },
          inFlight: 0,
        }
        lanes.set(name, lane)
      }
      const key = `${of} ${accountId}`
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

    wanted(now) {
      wake(now)
      const wants: Want[] = []
      const wantedOf = new Map<Lane, number>()
      let wanted = 0
      for (const of of classes) {
        const line = lines[of]
        for (let visits = line.size; visits > 0; visits--) {
          const left = Math.min(usable(bounds.total, of) - inFlight, bounds.perClaim) - wanted
          if (left <= 0) break
          const [lane] = line
          if (lane === undefined) break
          line.delete(lane)
          const already = wantedOf.get(lane) ?? 0
          const room = Math.min(usable(bounds.perLane, of) - lane.inFlight - already, left)
          // Without room it leaves the line until an attempt ends; what is only wanted may not come.
          if (room > 0 || already > 0) line.add(lane)
          if (room <= 0) continue
          wants.push(...inTurn(lane.due[of], room))
          wantedOf.set(lane, already + room)
          wanted += room
        }
      }
      return wants
    },

    started(lane, attempts) {
      lane.inFlight += attempts
      inFlight += attempts
    },
    ended(lane) {
      lane.inFlight--
      inFlight--
      for (const of of classes) if (lane.due[of].size > 0) lines[of].add(lane)
    },
    exhausted(stream, dueAt) {
      const next = Math.min(dueAt ?? Number.POSITIVE_INFINITY, stream.notedAt)
      stream.notedAt = Number.POSITIVE_INFINITY
      const { lane } = stream
      lane.due[stream.class].delete(stream)
      if (lane.due[stream.class].size === 0) lines[stream.class].delete(lane)
      if (Number.isFinite(next)) sleep(stream, next)
      else stream.state = 'idle'
    },
    drop(lane) {
      for (const [key, stream] of lane.streams) {
        if (stream.state === 'idle' && !stream.claiming) lane.streams.delete(key)
      }
      if (lane.streams.size === 0 && lane.inFlight === 0) lanes.delete(lane.name)
    },
    wakeAt: () => later.first()?.at,
  }
}

/** Shares `room` out among the streams, the next in turn first, and moves them to the end. */
function inTurn(streams: Set<Stream>, room: number): Want[] {
  const next: Stream[] = []
  for (const stream of streams) {
    if (next.length === room) break
    next.push(stream)
  }
  const share = Math.floor(room / next.length)
  const extra = room % next.length
  for (const stream of next) {
    streams.delete(stream)
    streams.add(stream)
  }
  return next.map((stream, i) => ({ stream, limit: i < extra ? share + 1 : share }))
}

const makeStream = (lane: Lane, of: QueueClass, accountId: string): Stream => ({
  lane,
  class: of,
  accountId,
  state: 'idle',
  dueAt: Number.POSITIVE_INFINITY,
  notedAt: Number.POSITIVE_INFINITY,
  claiming: false,
})
