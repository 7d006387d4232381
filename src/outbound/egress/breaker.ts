import { hourMs, isRecent } from '../../clock/index.js'
import { lasts } from '../shaping/index.js'

/**
 * The breaker of one scope, a site or all mail, as plain data, and how each piece of evidence changes it. Pure; the
 * rows of `egress` hold it for all threads.
 *
 *   primary ──trip──▶ failover ──`until`──▶ probing ──3 probes in a row passed──▶ primary
 *                        ▲                     │
 *                        └─── a probe failed ──┘
 *
 * Hysteresis: each failed probe, and each trip soon after a return, doubles the time until mail is
 * sent the primary way to see whether it works again.
 */
export interface Breaker {
  readonly way: 'primary' | 'failover'
  /** What was wrong, for people; empty at first. */
  readonly why: string
  /**
   * `unreached`: no connection; any server's word proves that it works again. `refused`: our address is refused; only
   * taken mail proves it.
   */
  readonly cause: BreakerCause
  /** When it last changed its way, on evidence or by an order. */
  readonly since: number
  /** On the failover way: when probes begin. */
  readonly until: number
  /** When `until` was set; 0 where that is not known. */
  readonly at: number
  /** Probes in a row that passed. */
  readonly passed: number
  /** Failed probes and early relapses since the last lasting return. */
  readonly relapses: number
}

/** Why mail left the primary way. */
export type BreakerCause = 'unreached' | 'refused'

/** What a mail that was sent the primary way came to. */
export type ProbeOutcome = 'accepted' | 'answered' | 'unreached'

// The wait before the first probe, which doubles with each relapse up to the longest.
const firstWaitMs = 300_000
const longestWaitMs = hourMs
/** A trip this soon after a return says that the return was too early. */
const relapseMs = 1_800_000
// One probe that passes may be luck; three in a row are not.
const probesToReturn = 3

/**
 * The state of a scope that nothing is known of. The word is that of electrics: a breaker trips on evidence and
 * closes after probes.
 */
export const unbroken: Breaker = {
  way: 'primary',
  why: '',
  cause: 'unreached',
  since: 0,
  until: 0,
  at: 0,
  passed: 0,
  relapses: 0,
}

/** Whether probes are due: the wait is over, or the clock was set back since it began. */
export const isProbing = ({ way, at, until }: Breaker, now: number): boolean =>
  way === 'failover' && !lasts(at > 0 ? { until, at } : { until }, now)

/**
 * The primary way does not work. `until`: mail stays on the failover way until then at least, where the evidence says
 * so.
 */
export function trip(
  breaker: Breaker,
  evidence: { cause: BreakerCause; why: string; until?: number },
  now: number,
): Breaker {
  const { cause, why } = evidence
  if (breaker.way === 'failover') {
    const before = isProbing(breaker, now) ? 0 : breaker.until
    const until = Math.max(before, evidence.until ?? now + waitMs(breaker.relapses))
    return { ...breaker, cause, why, until, at: now, passed: 0 }
  }
  const early = isRecent(breaker.since, now, relapseMs)
  const relapses = early ? breaker.relapses + 1 : 0
  const until = Math.max(evidence.until ?? 0, now + waitMs(relapses))
  return { way: 'failover', cause, why, since: now, until, at: now, passed: 0, relapses }
}

/** What one probe means. A probe that ends when no probes are due any more means nothing. */
export function probed(breaker: Breaker, outcome: ProbeOutcome, now: number): Breaker {
  if (!isProbing(breaker, now)) return breaker
  if (outcome === 'unreached') {
    const relapses = breaker.relapses + 1
    return { ...breaker, passed: 0, relapses, until: now + waitMs(relapses), at: now }
  }
  // After our address was refused, a deferral or another refusal proves nothing.
  if (breaker.cause === 'refused' && outcome !== 'accepted') return breaker
  const passed = breaker.passed + 1
  if (passed < probesToReturn) return { ...breaker, passed }
  return { ...breaker, way: 'primary', since: now, until: 0, passed: 0 }
}

/** The wait before the first probe, after so many relapses. */
const waitMs = (relapses: number) => Math.min(longestWaitMs, firstWaitMs * 2 ** relapses)
