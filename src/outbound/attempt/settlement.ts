import { counted } from '../../amounts/index.js'
import type { Claimed, Settlement } from '../../deliveries/index.js'
import type { BounceRules } from '../../reports/index.js'
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
  times: { startedAt: number; now: number },
  { retry, bounceRules }: SettlementOptions,
): Settlement {
  const { startedAt, now } = times
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
    lastReply: claimed.lastReply,
  })
  const delivery = { ...claimed, attempts }
  const dueAt = again ? nextAttempt(retry, delivery, now, atLeastMs) : undefined
  if (dueAt !== undefined) return { kind: 'deferred', dueAt, verdict, ...base }
  if (result.kind === 'bounced') return { kind: verdict.event, verdict: ending, ...base }
  const tried = counted(attempts, 'attempt')
  const reply = `Given up after ${tried}. The last one: ${result.reply}`
  return { ...base, kind: 'failed', reply, verdict: ending }
}
