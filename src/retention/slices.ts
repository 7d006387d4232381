import { cpus } from 'node:os'
import { nextTurn } from '../bounded/index.js'
import { type Clock, pause } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store, type Tx } from '../store/index.js'

/** What every part of retention needs. */
export interface RetentionDeps {
  store: Store
  clock: Clock
  log: Log
}

/** Something to be deleted in one piece, some rows at most. */
export interface Piece<T> {
  item: T
  /** The bytes that it frees, roughly. */
  bytes: number
}

// A write has all three bounds, checked after each piece.
const piecesAWrite = 20
const bytesAWrite = 4 * 1024 * 1024
const msAWrite = 5
// The share of the time that it works: a fifth while the machine is idle, a fiftieth while the processors are
// busy.
const mostOfTime = 0.2
const leastOfTime = 0.02
// Below a millisecond a timer costs more than it gains.
const leastRestMs = 1
// A slice that took longer was held up by something else, so it does not cause a long rest.
const mostSliceMs = 20
// How often the processors' load is read.
const idleEveryMs = 1_000

/**
 * Does `work` for one piece after another, in writes bounded by number, bytes and time, with a rest and a check of
 * `signal` after each; `byRow` is for `work` that checks again in its own statements. A faulty piece is logged and
 * left; a temporary fault is thrown.
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
      // The disk is full or the database busy: the next run tries again.
      if (isPassing(error)) throw error
      // One of the pieces is at fault: each is tried alone until that one has passed.
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
 * Leaves the disk, the turn and the processors to others for a multiple of the time taken, longer on a busier
 * machine; the wait for its turn does not count.
 */
export async function rest(clock: Clock, tookMs: number, signal: AbortSignal): Promise<void> {
  await nextTurn()
  if (tookMs >= leastRestMs) {
    await pause(clock, restFactor(idleShare(clock)) * Math.min(mostSliceMs, tookMs), signal)
  }
}

/**
 * The length of the rest as a multiple of the work, with this share of the processors idle (0 to 1).
 */
export function restFactor(idle: number): number {
  return 1 / Math.max(leastOfTime, mostOfTime * idle ** 2) - 1
}

// One reading for the process, which all slices share.
let lastTimes = { at: Number.NEGATIVE_INFINITY, idle: 0, all: 0 }
let lastIdle = 1

/** The share of the machine's processors that was idle in the last second or so. */
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
