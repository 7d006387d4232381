import { isRecent } from '../clock/index.js'
import type { Claim } from './due-rows.js'

/**
 * From where the claims of deep streams search. Rows that were claimed before stay in PostgreSQL's index until a vacuum
 * has removed them, and one long transaction puts that off for all: each claim would step over all of them.
 */
export interface ClaimFrom<Stream extends object> {
  /** The `from` of a claim of the stream; undefined where it is to look from the beginning. */
  of(stream: Stream, now: number): number | undefined
  /** Takes in what a claim found that was made with that `from`. */
  keep(stream: Stream, from: number | undefined, claim: Claim, now: number): void
}

// Rows that have come back before that place meanwhile (given back, let go, taken over) wait for so long at most.
const wholeEveryMs = 1_000

export function makeClaimFrom<Stream extends object>(): ClaimFrom<Stream> {
  const places = new WeakMap<Stream, { dueAt: number; wholeAt: number }>()
  return {
    of(stream, now) {
      const place = places.get(stream)
      return place && isRecent(place.wholeAt, now, wholeEveryMs) ? place.dueAt : undefined
    },
    keep(stream, from, { taken, exhausted }, now) {
      const last = taken.at(-1)
      if (exhausted !== undefined || last === undefined) return void places.delete(stream)
      const wholeAt = (from === undefined ? undefined : places.get(stream)?.wholeAt) ?? now
      places.set(stream, { dueAt: last.dueAt, wholeAt })
    },
  }
}
