import { utcTime } from '../../clock/index.js'
import type { SiteBrakeRow } from '../../store/index.js'
import { lasts, type Policy } from '../shaping/index.js'

/** The stored state of a brake. */
export type Brake = Omit<SiteBrakeRow, 'site' | 'source'>

/** What climbed over the usual. */
export interface Over {
  cause: Brake['cause']
  /** The counts, as a sentence without a full stop. */
  why: string
  /** Campaign mails a minute until now, where no brake is on. */
  perMinute: number
}

// A wait may be twice as long as the first one: a site that blocks for two hours is asked again four times.
const longestWaits = 2

/**
 * The next state of a brake; undefined: none is on (any more). When nothing changes, it is the same object.
 *
 *   none ──over──▶ 10 % ──over──▶ waits ──its time──▶ 10 % ──well──▶ 25 % ──well──▶ 50 % ──well──▶ none
 *                   ▲              (longer each time)                  │              │
 *                   └───────────────────────over───────────────────────┴──────────────┘
 *
 * `over`: what was seen since the state began. Complaints come days after their mail, so they only keep the brake
 * from coming back.
 */
export function nextBrake(
  before: Brake | undefined,
  over: Over | undefined,
  policy: Pick<Policy, 'brakeStepMinutes' | 'brakeWaitMinutes'>,
  now: number,
): Brake | undefined {
  if (before === undefined) return over === undefined ? undefined : begun(over, policy, now)
  const { percent, waits, step_ms: stepMs, wait_ms: waitMs } = before
  const isDue = !lasts({ until: before.until, at: before.since }, now)
  const step = (to: 10 | 25 | 50): Brake => ({
    ...before,
    percent: to,
    since: now,
    until: now + stepMs,
  })
  if (over !== undefined && over.cause !== 'complained' && percent > 0) {
    const { cause, why } = over
    if (percent > 10) return { ...step(10), cause, why }
    const forMs = waitMs * Math.min(waits + 1, longestWaits)
    return { ...before, cause, why, percent: 0, waits: waits + 1, since: now, until: now + forMs }
  }
  if (!isDue) return before
  if (over !== undefined) return step(10)
  switch (percent) {
    case 0:
      return step(10)
    case 10:
      return step(25)
    case 25:
      return step(50)
    case 50:
      return undefined
  }
}

const begun = (
  { cause, why, perMinute }: Over,
  { brakeStepMinutes, brakeWaitMinutes }: Pick<Policy, 'brakeStepMinutes' | 'brakeWaitMinutes'>,
  now: number,
): Brake => ({
  percent: 10,
  began_at: now,
  since: now,
  until: now + brakeStepMinutes * 60_000,
  waits: 0,
  per_minute: Math.round(perMinute),
  step_ms: brakeStepMinutes * 60_000,
  wait_ms: brakeWaitMinutes * 60_000,
  cause,
  why,
})

const parts = { 0: 'waits', 10: 'goes at a tenth', 25: 'goes at a quarter', 50: 'goes at half' }

/** How campaign mail goes under a brake, and why; a sentence without a full stop. */
export const brakeInWords = ({ percent, until, why }: Pick<Brake, 'percent' | 'until' | 'why'>) =>
  `campaign mail ${parts[percent]} until ${utcTime(until)}, as ${why}; it comes back by itself in steps`
