import { cpus } from 'node:os'
import { nextTurn } from '../bounded/index.js'
import { type Clock, pause } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store, type Tx } from '../store/index.js'

/** What every part of retention takes. */
export interface RetentionDeps {
  store: Store
  clock: Clock
  log: Log
}

/** Something to be deleted in one piece, some rows at most. */
export interface Piece<T> {
  item: T
  /** What is freed with it; about. */
  bytes: number
}

// A write has all three bounds, looked at after each piece.
const piecesAWrite = 20
const bytesAWrite = 4 * 1024 * 1024
const msAWrite = 5
// Which share of the time it takes: a fifth while the machine is idle, a fiftieth while the processors are busy.
const mostOfTime = 0.2
const leastOfTime = 0.02
// Below a millisecond a timer costs more than it gives.
const leastRestMs = 1
// A slice that took longer was held up by something else, and no long rest follows from it.
const mostSliceMs = 20
// How often the processors are asked.
const idleEveryMs = 1_000

/**
 * Does `work` for one piece after another, in writes that are bounded by number, bytes and time, with a rest
 * after each and a look at `signal`; by row where `work` asks again in its own statements. A piece at fault is logged and left; a fault that passes is thrown.
 */
export async function inSlices<T>(
  { store, clock, log }: RetentionDeps,
  pieces: readonly Piece<T>[],
  work: (tx: Tx, item: T) => Promise<void>,
  signal: AbortSignal,
  way: 'write' | 'byRow' = 'write',
): Promise<void> {
  for (let at = 0; at < pieces.length && !signal.aborted; ) {
    let tookMs = 0
    const writeSome = async (tx: Tx, most: number) => {
      const began = clock.now()
      let next = at
      let bytes = 0
      for (const { item, bytes: more } of pieces.slice(at, at + most)) {
        await work(tx, item)
        next++
        bytes += more
        tookMs = clock.now() - began
        if (bytes >= bytesAWrite || tookMs >= msAWrite) break
      }
      return next
    }
    try {
      at = await store[way]((tx) => writeSome(tx, piecesAWrite))
    } catch (error) {
      // A full disk, or a database that is busy: the next run tries again.
      if (isPassing(error)) throw error
      // One of them: each alone, until the one at fault is behind.
      for (const end = Math.min(pieces.length, at + piecesAWrite); at < end; at++) {
        try {
          await store[way]((tx) => writeSome(tx, 1))
        } catch (fault) {
          if (isPassing(fault)) throw fault
          log.error({ error: fault }, 'Something old cannot be deleted; it stays')
        }
      }
    }
    await rest(clock, tookMs, signal)
  }
}

/**
 * Leaves the disk, the turn and the processors to others for some times what was taken, the longer the busier
 * the machine is; what it waited for its turn is not counted.
 */
export async function rest(clock: Clock, tookMs: number, signal: AbortSignal): Promise<void> {
  await nextTurn()
  if (tookMs >= leastRestMs) {
    await pause(clock, restFactor(idleShare(clock)) * Math.min(mostSliceMs, tookMs), signal)
  }
}

/** How many times as long as it worked it rests, with this share of the processors idle (0 to 1). */
export function restFactor(idle: number): number {
  return 1 / Math.max(leastOfTime, mostOfTime * idle ** 2) - 1
}

// One look for the process, which all slices share.
let lastTimes = { at: Number.NEGATIVE_INFINITY, idle: 0, all: 0 }
let lastIdle = 1

/** What share of the machine's processors did nothing in the last second or so. */
function idleShare(clock: Clock): number {
  const at = clock.now()
  if (at - lastTimes.at < idleEveryMs && at >= lastTimes.at) return lastIdle
  const times = { at, idle: 0, all: 0 }
  for (const { times: of } of cpus()) {
    times.idle += of.idle
    times.all += of.user + of.nice + of.sys + of.irq + of.idle
  }
  const passed = times.all - lastTimes.all
  if (passed > 0) lastIdle = Math.min(1, Math.max(0, (times.idle - lastTimes.idle) / passed))
  lastTimes = times
  return lastIdle
}
