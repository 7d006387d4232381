import { AnswerTooLarge, codeOf, type Outcome } from './outcome.js'

/** How the waits between attempts are chosen. */
export interface Chances {
  /** How often it may be tried again. */
  retries: number
  /** Milliseconds that all attempts and waits together may take. */
  maxElapsed: number
  random: () => number
}

const firstWaitMs = 500
const longestWaitMs = 8_000

/**
 * The milliseconds after which a request is tried again; undefined: not at all. Every attempt has
 * the same key and the same bytes, so that a repeat cannot act twice.
 *
 * | outcome | again |
 * | --- | --- |
 * | no whole answer, timeout, 500, 502, 503, 504 | yes |
 * | 409 `concurrent_idempotent_request`: an earlier attempt is still running | after 0.5 to 2 s |
 * | 429 `rate_limit_exceeded` | after `Retry-After` |
 * | an answer that is too large, `account_paused`, quotas, all else | never |
 */
export function againAfter(
  outcome: Outcome,
  attempt: number,
  passed: { elapsedMs: number; retryAfterMs: number | undefined },
  { retries, maxElapsed, random }: Chances,
): number | undefined {
  if (attempt > retries) return undefined
  const backoff = random() * Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1))
  const wait = waitFor(outcome, backoff, passed.retryAfterMs, random)
  return wait === undefined || passed.elapsedMs + wait > maxElapsed ? undefined : wait
}

function waitFor(
  outcome: Outcome,
  backoff: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  if (outcome.kind === 'broken' && outcome.cause instanceof AnswerTooLarge) return undefined
  if (outcome.kind !== 'answered') return backoff
  const code = codeOf(outcome)
  if (code === 'account_paused') return undefined
  if (code === 'concurrent_idempotent_request') return 500 + random() * 1_500
  if (code === 'rate_limit_exceeded') return retryAfterMs ?? backoff
  if ([500, 502, 503, 504].includes(outcome.status)) return retryAfterMs ?? backoff
  return undefined
}

/** `Retry-After` in milliseconds from now; it may be seconds or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
