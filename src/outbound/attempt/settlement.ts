import { counted } from '../../amounts/index.js'
import type { Claimed, Settlement } from '../../deliveries/index.js'
import type { BounceRules, Verdict } from '../../reports/index.js'
import { judgeRefusal } from './judge.js'
import type { AttemptResult } from './result.js'
import { nextAttempt, type RetryPolicies } from './retry.js'

/** What an attempt is judged by. */
export interface SettlementOptions {
  retry: RetryPolicies
  bounceRules: () => BounceRules
}

/** What an attempt means for its delivery: its end, or the time of the next attempt. */
export function settlementOf(
  claimed: Claimed,
  result: AttemptResult,
  times: { startedAt: number; now: number; source: string },
  { retry, bounceRules }: SettlementOptions,
): Settlement {
  const { startedAt, now, source } = times
  const isNone =
    result.kind === 'suppressed' || result.kind === 'held' || result.fault !== undefined
  const attempts = claimed.attempts + (isNone ? 0 : 1)
  const base = {
    id: claimed.id,
    emailId: claimed.emailId,
    accountId: claimed.accountId,
    class: claimed.class,
    recipient: claimed.recipient,
    startedAt,
    attempts,
    reply: result.reply,
    remote: result.remote ?? null,
    tls: result.tls ?? null,
    transcript: result.transcript ?? '',
    failover: result.failover ?? false,
  }
  if (result.kind === 'held') return { kind: 'held', dueAt: claimed.dueAt, ...base }
  if (result.kind !== 'bounced' && result.kind !== 'deferred') return { kind: result.kind, ...base }
  const { again, verdict, ending, atLeastMs } = judgeRefusal(bounceRules(), result, {
    attempts,
    lastCause: claimed.lastCause,
  })
  const delivery = { ...claimed, attempts }
  const dueAt = again ? nextAttempt(retry, delivery, now, atLeastMs) : undefined
  if (dueAt !== undefined) {
    const of = keepsSource(result, verdict) ? source : null
    const { putOffBy = null, cause = null } = result
    return { kind: 'deferred', dueAt, source: of, putOffBy, cause, verdict, ...base }
  }
  if (result.kind === 'bounced') return { kind: verdict.event, verdict: ending, ...base }
  const tried = counted(attempts, 'attempt')
  const reply = `Given up after ${tried}. The last one: ${result.reply}`
  return { ...base, kind: 'failed', reply, verdict: ending }
}

/**
 * A greylist knows the client by its address and would begin anew with another. Where no server has spoken, or the
 * server wants nothing from this address, another address may do better.
 */
const keepsSource = ({ kind, site, failover }: AttemptResult, verdict: Verdict): boolean =>
  kind === 'deferred' && site?.reply !== undefined && !failover && verdict.class !== 'blocked'
