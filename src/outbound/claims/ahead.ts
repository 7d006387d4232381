import { type Clock, pause } from '../../clock/index.js'
import { type Claimed, leaseOf, stopOf, unclaim } from '../../deliveries/index.js'
import type { Log } from '../../log/index.js'
import type { Store } from '../../store/index.js'
import type { Stream } from '../admission/index.js'

/**
 * Deliveries that were claimed before there is a slot for them, so that a deep stream whose mail leaves fast needs
 * one write for many, and a free slot need not wait for a write. They are no more than leave in a fraction of a
 * second. Those that cannot leave now after all are given back.
 */
export interface Ahead {
  /** How many to claim beyond the slots that there are, by how fast the stream's mail has been leaving. */
  wanted(stream: Stream): number
  /** Adds what was claimed to what is left. `exhausted`: nothing else of the stream is due. */
  keep(stream: Stream, claimed: readonly Claimed[], exhausted: Exhausted | undefined): void
  /** The next delivery of the stream, if one is left, which begins now. */
  take(stream: Stream): Claimed | undefined
  /** A delivery of the stream has begun. */
  began(stream: Stream): void
  left(stream: Stream): number
  holds(stream: Stream, id: number): boolean
  /** True when few are left and the table has more. */
  isLow(stream: Stream): boolean
  /** Gives back what is left of the account's stopped streams: a pause stops them, or a bounce that leads to one. */
  giveBackStopped(accountId: string): Promise<void>
  /** True when nothing is left of any stream. */
  isEmpty(): boolean
  /** Gives back what is left of the streams, and claims no more of them than there are slots for a while. */
  giveBack(streams: Iterable<Stream>): void
  /** Gives back deliveries that were begun, but that no server was offered. */
  giveBackBegun(stream: Stream, deliveries: readonly Claimed[]): Promise<void>
  /** Gives everything back. */
  close(): Promise<void>
}

/** The table has no more of the stream that is due now; `nextDueAt`: when the next is. */
type Exhausted = { nextDueAt: number | undefined }

/** What claiming ahead needs, and whom it tells. */
export interface AheadOptions {
  store: Store
  clock: Clock
  log: Log
  thread: number
  /** The last delivery was taken of a stream that has nothing else due. */
  onExhausted(stream: Stream, nextDueAt: number | undefined): void
  /** Deliveries of the stream wait again, due at that time. */
  onReturned(stream: Stream, dueAt: number): void
}

/** What is left of a stream. */
interface Kept {
  rows: Claimed[]
  /** How many were kept after the last claim. */
  size: number
  exhausted: Exhausted | undefined
  cancel: () => void
}

// What has not begun after this long is given back.
const keptMs = 1_000
// The pause in claiming ahead after something was given back: a site with a rate has its gate
// closed most of the time.
const pauseMs = 1_000
const retryWriteMs = 1_000

/**
 * A claim takes several deliveries at once, because each claim costs a commit. Deliveries that were claimed and
 * cannot start soon are given back, so that they are due again: a pause or a deletion finds them waiting.
 */
export function makeAhead(options: AheadOptions): Ahead {
  const { store, clock, log, thread, onExhausted, onReturned } = options
  const kept = new Map<Stream, Kept>()
  const pace = makePace(clock)

  /** The ids of those that are being given back. */
  const returning = new Set<number>()
  const underWay = new Set<Promise<boolean>>()
  const closing = new AbortController()

  const tryToUnclaim = async (rows: readonly Claimed[]): Promise<boolean> => {
    for (const { id } of rows) returning.add(id)
    for (;;) {
      try {
        await store.byRow((tx) => unclaim(tx, rows, leaseOf(store.node, thread)))
        break
      } catch (error) {
        log.error({ error, deliveries: rows.length }, 'Deliveries could not be given back')
        // The next start of the thread takes them over.
        if (closing.signal.aborted) return false
        await pause(clock, retryWriteMs, closing.signal)
      }
    }
    for (const { id } of rows) returning.delete(id)
    return true
  }

  /** Makes them due again as they were. It is tried until it is written, because their leases are long. */
  const unclaimAll = async (rows: readonly Claimed[]): Promise<boolean> => {
    const done = tryToUnclaim(rows)
    underWay.add(done)
    return await done.finally(() => underWay.delete(done))
  }

  const drop = (stream: Stream, { cancel, exhausted }: Kept) => {
    cancel()
    kept.delete(stream)
    if (exhausted !== undefined) onExhausted(stream, exhausted.nextDueAt)
  }

  const giveBack = async (stream: Stream) => {
    const found = kept.get(stream)
    if (found === undefined) return
    drop(stream, found)
    pace.rest(stream, pauseMs)
    const { rows } = found
    if (!(await unclaimAll(rows))) return
    onReturned(stream, Math.min(...rows.map(({ dueAt }) => dueAt)))
  }

  return {
    wanted: pace.wanted,
    keep(stream, claimed, exhausted) {
      const before = kept.get(stream)
      before?.cancel()
      const rows = [...(before?.rows ?? []), ...claimed]
      const cancel = clock.after(keptMs, () => void giveBack(stream))
      kept.set(stream, { rows, size: rows.length, exhausted, cancel })
    },
    take(stream) {
      const found = kept.get(stream)
      const delivery = found?.rows.shift()
      if (found?.rows.length === 0) drop(stream, found)
      return delivery
    },
    began: pace.began,
    left: (stream) => kept.get(stream)?.rows.length ?? 0,
    holds: (stream, id) =>
      returning.has(id) || kept.get(stream)?.rows.some((row) => row.id === id) === true,
    isLow(stream) {
      const { rows, size, exhausted } = kept.get(stream) ?? none
      return exhausted === undefined && rows.length < size / 2
    },
    async giveBackStopped(accountId) {
      const streams = [...kept.keys()].filter((stream) => stream.accountId === accountId)
      for (const stream of streams) {
        if ((await stopOf(store.read, stream)) !== undefined) void giveBack(stream)
      }
    },
    isEmpty: () => kept.size === 0,
    giveBack(streams) {
      for (const stream of streams) void giveBack(stream)
    },
    async giveBackBegun(stream, deliveries) {
      if (!(await unclaimAll(deliveries))) return
      onReturned(stream, Math.min(...deliveries.map(({ dueAt }) => dueAt)))
    },
    async close() {
      closing.abort()
      await Promise.all([...kept.keys()].map(giveBack))
      await Promise.all(underWay)
    },
  }
}

const none = { rows: [], size: 0, exhausted: undefined }

/** How fast a stream's mail leaves: how many began since a time, and the pace before it. */
interface Pace {
  begun: number
  since: number
  perMs: number
}

// As many are claimed ahead as leave within this time at the present pace. Fewer than `fewest` are not worth it;
// `most` is the limit.
const horizonMs = 200
const fewest = 4
const most = 100

/** Learns how fast the mail of each stream leaves. */
function makePace(clock: Pick<Clock, 'now'>) {
  const paces = new WeakMap<Stream, Pace>()
  return {
    /** How many leave within the horizon. */
    wanted(stream: Stream): number {
      const now = clock.now()
      const pace = paces.get(stream) ?? { begun: 0, since: now, perMs: 0 }
      paces.set(stream, pace)
      const passedMs = now - pace.since
      if (passedMs >= horizonMs)
        Object.assign(pace, { begun: 0, since: now, perMs: pace.begun / passedMs })
      const leaving = Math.floor(pace.perMs * horizonMs)
      return leaving < fewest ? 0 : Math.min(leaving, most)
    },
    began(stream: Stream) {
      const pace = paces.get(stream)
      if (pace !== undefined) pace.begun++
    },
    /** The pace is counted from nothing again after this time. */
    rest(stream: Stream, ms: number) {
      paces.set(stream, { begun: 0, since: clock.now() + ms, perMs: 0 })
    },
  }
}
