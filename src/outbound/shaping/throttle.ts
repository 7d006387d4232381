import type { Clock } from '../../clock/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'

/**
 * The generic cell rate algorithm (ITU-T I.371). A throttle needs one number, `paidUntil`: the time at which all
 * mails that were let through would have been sent at an even pace. It may run ahead of the clock by one burst. Over
 * any time t no more goes through than `burst` + t × rate.
 */
export interface Rate {
  readonly perMinute: number
  /** How many may go at once after a rest. */
  readonly burst: number
}

/** A rate that is kept. */
export interface Throttle {
  /** Takes one and returns 0, or takes none and returns the ms to wait. */
  take(klass: QueueClass, now: number): number
}

/** A limit of mails a minute that begins with its whole burst. */
export function makeThrottle({ clock, ...rate }: Rate & { clock: Clock }): Throttle {
  let paidUntil = clock.now()
  return {
    take(klass, now) {
      const wait = waitFor(rate, paidUntil, klass, now)
      if (wait === 0) paidUntil = afterOne(rate, paidUntil, now)
      return wait
    },
  }
}

/** The burst is what the rate allows in a second, but at least 2, so that one can be kept for transactional mail. */
export function rateOf(perMinute: number): Rate {
  const burst = Math.max(perMinute > 1 ? 2 : 1, Math.ceil(perMinute / 60))
  return { perMinute, burst }
}

/** How many of `limit` connections, tokens or mails a day only transactional mail may use. */
export function reserveOf(limit: number): number {
  return limit <= 1 ? 0 : Math.max(1, Math.floor(limit / 5))
}

/** How much of `limit` mail of the class must leave unused. */
export const keptFrom = (klass: QueueClass, limit: number): number =>
  klass === queueClass.transactional ? 0 : reserveOf(limit)

/** 0, or the ms until one of this class may go. */
export function waitFor(rate: Rate, paidUntil: number, klass: QueueClass, now: number): number {
  const kept = keptFrom(klass, rate.burst)
  // How far `paidUntil` may be ahead of the clock: by the burst, less this mail and what its class must leave unused.
  const ahead = (rate.burst - 1 - kept) * spacingOf(rate)
  return Math.max(0, Math.ceil(bounded(rate, paidUntil, now) - ahead - now))
}

/** The new `paidUntil` when one goes now. */
export function afterOne(rate: Rate, paidUntil: number, now: number): number {
  return bounded(rate, Math.max(paidUntil, now) + spacingOf(rate), now)
}

/** The new `paidUntil` when a mail that `afterOne` counted did not go. */
export const beforeOne = (rate: Rate, paidUntil: number) => paidUntil - spacingOf(rate)

/** The ms between two at an even pace. */
const spacingOf = (rate: Rate) => 60_000 / rate.perMinute

/**
 * After the rate was raised, `paidUntil` may lie far ahead, where the lower rate left it. It is cut, so that nothing
 * waits longer than one burst takes at the new rate.
 */
const bounded = (rate: Rate, paidUntil: number, now: number) =>
  Math.min(paidUntil, now + rate.burst * spacingOf(rate))
