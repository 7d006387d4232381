import { type ClassName, classNameOf } from '../../deliveries/index.js'
import type { QueueClass } from '../../store/index.js'

/**
 * When to try again (`notes/mta.md` §1, 10): the schedule's last delay repeats, jitter only adds
 * (a greylist that says 300 s means it), and nothing is tried past its expiry.
 */
export interface RetryPolicies
  extends Readonly<Record<ClassName, { schedule: readonly number[] }>> {
  /** In [0, 1): `Math.random`, or a seeded one in tests. */
  readonly random: () => number
}

// The random part that is added to a delay, so that mail that was put off together does not come
// back together.
const jitter = 0.15

/** The next attempt after `attempts` of them, or undefined when the delivery expires before it. */
export function nextAttempt(
  policies: RetryPolicies,
  delivery: { class: QueueClass; attempts: number; expiresAt: number },
  now: number,
  atLeastMs = 0,
): number | undefined {
  const { schedule } = policies[classNameOf(delivery.class)]
  const scheduled = schedule[Math.min(delivery.attempts, schedule.length) - 1] ?? 0
  const jittered = 1 + jitter * policies.random()
  const usual = Math.round(now + scheduled * jittered)
  const dueAt = Math.max(usual, Math.round(now + atLeastMs * jittered))
  if (dueAt <= delivery.expiresAt) return dueAt
  // An attempt that is earlier than wanted, but well before the end, is better than none: a domain that the DNS lost
  // for a minute must be asked twice before it is given up.
  const midway = Math.round((now + delivery.expiresAt) / 2)
  return usual > delivery.expiresAt ? undefined : Math.max(usual, midway)
}
