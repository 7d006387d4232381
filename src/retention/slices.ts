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
// It rests four times as long as it worked, so that it takes a fifth of the time at most.
const restFactor = 4
const leastRestMs = 1
const mostSliceMs = 20

/**
 * Does `work` for one piece after another, in writes that are bounded by number, bytes and time, with a rest
 * after each and a look at `signal`. A piece at fault is logged and left; a fault that passes is thrown.
 */
export async function inSlices<T>(
  { store, clock, log }: RetentionDeps,
  pieces: readonly Piece<T>[],
  work: (tx: Tx, item: T) => Promise<void>,
  signal: AbortSignal,
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
      at = await store.write((tx) => writeSome(tx, piecesAWrite))
    } catch (error) {
      if (isPassing(error)) throw error
      // One of them: each alone, until the one at fault is behind.
      for (const end = Math.min(pieces.length, at + piecesAWrite); at < end; at++) {
        try {
          await store.write((tx) => writeSome(tx, 1))
        } catch (fault) {
          if (isPassing(fault)) throw fault
          log.error({ error: fault }, 'Something old cannot be deleted; it stays')
        }
      }
    }
    await rest(clock, tookMs, signal)
  }
}

/** Leaves the disk and the turn to others for some times what was taken; what it waited for its turn is not. */
export async function rest(clock: Clock, tookMs: number, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  if (tookMs >= leastRestMs) {
    await pause(clock, restFactor * Math.min(mostSliceMs, tookMs), signal)
  }
}
