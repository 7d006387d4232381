import { dayNumber } from '../../clock/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import { reserveOf } from './throttle.js'

/** What is remembered of a source address; days are whole days since the epoch, UTC. */
export interface SourceState {
  /** When the ramp began. */
  readonly firstDay: number
  /** The last day with mail. */
  readonly lastDay: number
  /** Which day of the ramp `lastDay` was, from 1: days without mail do not count. */
  readonly rampDay: number
  /** Mails of `lastDay`, including those that were granted and not yet sent. */
  readonly sent: number
}

// Day 1 to 7, 10 and 16 as published by SendGrid, the others between them in equal steps (`mta.md` 14).
const ramp = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 7_000, 10_000, 15_000, 20_000, 28_000, 38_000, 53_000,
  72_000, 100_000,
]
/** How many days of mail a ramp takes. */
export const rampDays = ramp.length
// After so many days without mail the ramp begins anew: a reputation does not keep.
const idleDays = 30

/** How many mails a source may send on a day of its ramp; no limit once it is over. */
export const rampLimit = (rampDay: number) => ramp[rampDay - 1] ?? Number.POSITIVE_INFINITY

/** How many of a day's `limit` mails may be other than transactional. */
export const bulkLimit = (limit: number) =>
  Number.isFinite(limit) ? limit - reserveOf(limit) : limit

/** The state as it is today, before any more is granted. */
export function today(state: SourceState | undefined, now: number): SourceState {
  const day = dayNumber(now)
  if (state === undefined || day - state.lastDay > idleDays) {
    return { firstDay: day, lastDay: day, rampDay: 1, sent: 0 }
  }
  // After the clock was set back there is no second ration, but nobody waits until the clock has caught up.
  if (day <= state.lastDay) return { ...state, lastDay: day }
  return { ...state, lastDay: day, rampDay: Math.min(state.rampDay + 1, rampDays + 1), sent: 0 }
}

/** A day of the ramp in words: `day 3 of 16`. */
export const rampInWords = (rampDay: number) => `day ${rampDay} of ${rampDays}`

/**
 * Grants a part (`share` of the day's limit, one at least) of what is left of the day. Bulk mail leaves a fifth
 * unused, and transactional mail may pass the limit by `reserve` mails: a password reset that comes tomorrow is as
 * good as lost. The caller saves the state when something was granted.
 */
export function grant(
  state: SourceState | undefined,
  {
    klass,
    share,
    now,
    reserve = 0,
  }: { klass: QueueClass; share: number; now: number; reserve?: number },
): { state: SourceState; granted: number } {
  const current = today(state, now)
  const limit = rampLimit(current.rampDay)
  // After the ramp one mail is noted, so that the day counts as a day with mail.
  const want = Number.isFinite(limit) ? Math.max(1, Math.ceil(limit * share)) : 1
  const most = klass === queueClass.transactional ? limit + reserve : bulkLimit(limit)
  const granted = Math.max(0, Math.min(want, most - current.sent))
  return { state: { ...current, sent: current.sent + granted }, granted }
}
