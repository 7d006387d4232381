import type { Lasting } from './lasting.js'
import { firstWords } from './reactions.js'

/** How an attempt ended. `reply` is the server's own words, code first; never a sentence of ours. */
export interface SiteOutcome {
  readonly kind: 'delivered' | 'bounced' | 'deferred' | 'connect-failed'
  readonly reply?: string | undefined
  /**
   * Why there was no connection: `timeout` when nothing answered in time, `dns` when there was no address, `busy`
   * when even one connection was too many, else `refused`.
   */
  readonly cause?: 'refused' | 'timeout' | 'dns' | 'busy' | undefined
  /** Whose mail it was; not given for smart hosts. */
  readonly accountId?: string
  /** Our own sentence about the outcome, for people. */
  readonly why?: string
  /** What the words say against us: not yet, or not wanted. Undefined where the words are about the recipient. */
  readonly against?: 'deferral' | 'block' | undefined
}

/** Why and until when nothing is sent to a site. */
export interface Suspension extends Lasting {
  /** From this time on one message at a time is sent, until one gets through. */
  readonly until: number
  readonly why: string
  /**
   * What suspended the site: connections that failed, or the receiver's own words. The first kind ends with any
   * answer of its servers, the second only when a mail gets through.
   */
  readonly by: 'connection' | 'reply'
  /** For how long the DNS or a busy server was not asked; twice as long if it fails again. */
  readonly askedMs?: number
}

// ZoneMTA's figures (`mta.md` §1, 11). When the DNS does not answer, that is often a minute's trouble of our own
// resolver, for all domains: it is asked again soon, and less and less often. So is a server for which one connection
// is too many: it may be free again in seconds.
const parkedMs = { refused: 120_000, timeout: 900_000, dns: 60_000, busy: 10_000 }
const longestAskedMs = 900_000
// A random part of the time is added, so that sites that went down together are not all tried in the same second.
// Nothing is ever taken off: no site is tried sooner than the figures above.
const jitter = 0.15

/** For how long a site that gave no connection is left alone. `before`: the suspension that a probe did not end. */
export function park(
  { cause = 'refused', why = causes[cause] }: SiteOutcome,
  before: Suspension | undefined,
  { now, random }: { now: number; random: () => number },
): Suspension {
  const usualMs = parkedMs[cause]
  const isAsked = cause === 'dns' || cause === 'busy'
  const again =
    before?.askedMs === undefined ? usualMs : Math.min(2 * before.askedMs, longestAskedMs)
  const forMs = isAsked ? again : usualMs
  return {
    at: now,
    until: now + Math.round(forMs * (1 + jitter * random())),
    why: firstWords(why),
    // A receiver that suspended us by its words is not well again because it can be reached.
    by: before?.by ?? 'connection',
    ...(isAsked && { askedMs: forMs }),
  }
}

// Our words for each cause.
const causes = {
  refused: 'Its servers take no connection',
  timeout: 'Its servers do not answer',
  dns: 'The DNS does not answer',
  busy: 'Its servers take no more connections',
}
