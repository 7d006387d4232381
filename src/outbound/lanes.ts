import type { LaneDue } from '../deliveries/index.js'
import { makeTimeHeap } from './time-heap.js'

/**
 * What one thread knows of a recipient domain that has mail waiting.
 *
 *   idle ──note──▶ later ──its time──▶ due ──no room──▶ parked
 *     ▲              ▲                 │ ▲                │
 *     └── claimed empty, nothing/next due ┘ └──── room ───┘
 */
export interface Lane {
  readonly name: string
  state: 'idle' | 'later' | 'due' | 'parked'
  /** When it next has to be looked at, while `later`. */
  dueAt: number
  /** The earliest time noted while a claim was under way: the claim may not have seen that row. */
  notedAt: number
  claiming: boolean
  /** Attempts under way. */
  inFlight: number
}

/**
 * Which lanes to look at, and when. Only destinations with a backlog are kept, so memory does not
 * follow the number of waiting rows. Losing all of it loses nothing: the table is the truth.
 */
export interface Lanes {
  /** Learns that a lane has, or may have, a delivery that falls due then. */
  note(due: LaneDue): void
  /** The next due lane in turn, moved to the end of the line; undefined when none is. */
  next(now: number): Lane | undefined
  /** Out of the line until `unpark`: it has mail due and no room for it. */
  park(lane: Lane): void
  unpark(lane: Lane): void
  /** After a claim took all that was due: nothing more before `dueAt` (undefined: nothing). */
  exhausted(lane: Lane, dueAt: number | undefined): void
  /** Forgets the lane if nothing is known to wait or to run. */
  drop(lane: Lane): void
  /** When the next lane that is not due yet will be; undefined for never. */
  wakeAt(): number | undefined
}

export function makeLanes(): Lanes {
  const lanes = new Map<string, Lane>()
  // In order of insertion; a visited lane is put back at the end, so that all have their turn.
  const line = new Set<Lane>()
  const later = makeTimeHeap<Lane>()

  const sleep = (lane: Lane, dueAt: number) => {
    lane.state = 'later'
    lane.dueAt = dueAt
    later.push(dueAt, lane)
  }
  const stand = (lane: Lane) => {
    lane.state = 'due'
    line.add(lane)
  }
  return {
    note({ lane: name, dueAt }) {
      let lane = lanes.get(name)
      if (lane === undefined) {
        lane = makeLane(name)
        lanes.set(name, lane)
      }
      if (lane.claiming) lane.notedAt = Math.min(lane.notedAt, dueAt)
      else if (lane.state === 'idle' || (lane.state === 'later' && dueAt < lane.dueAt)) {
        sleep(lane, dueAt)
      }
    },
    next(now) {
      for (let first = later.first(); first !== undefined && first.at <= now; ) {
        later.pop()
        // An entry that says something else than its lane is left over from a later time.
        if (first.item.state === 'later' && first.item.dueAt === first.at) stand(first.item)
        first = later.first()
      }
      const { value: lane } = line.values().next()
      if (lane === undefined) return undefined
      line.delete(lane)
      line.add(lane)
      return lane
    },
    park(lane) {
      lane.state = 'parked'
      line.delete(lane)
    },
    unpark(lane) {
      if (lane.state === 'parked') stand(lane)
    },
    exhausted(lane, dueAt) {
      const next = Math.min(dueAt ?? Number.POSITIVE_INFINITY, lane.notedAt)
      lane.notedAt = Number.POSITIVE_INFINITY
      line.delete(lane)
      if (Number.isFinite(next)) sleep(lane, next)
      else lane.state = 'idle'
    },
    drop(lane) {
      const busy = lane.inFlight > 0 || lane.claiming
      if (lane.state === 'idle' && !busy) lanes.delete(lane.name)
    },
    wakeAt: () => later.first()?.at,
  }
}

const makeLane = (name: string): Lane => ({
  name,
  state: 'idle',
  dueAt: Number.POSITIVE_INFINITY,
  notedAt: Number.POSITIVE_INFINITY,
  claiming: false,
  inFlight: 0,
})
