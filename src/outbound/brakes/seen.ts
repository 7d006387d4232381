import { isRecent } from '../../clock/index.js'
import { addTally, noTally, type Policy, type SiteTally } from '../shaping/index.js'
import type { SiteUsual } from './days.js'
import type { Over } from './next-brake.js'

/**
 * What a thread has lately seen at a site from a source. It has two halves, and the older one is dropped when the
 * newer one is full, so that five to ten minutes are looked at.
 */
export interface SeenWindow {
  newer: SiteTally
  older: SiteTally
  /** When the newer half began; then the same of the older one. */
  newerAt: number
  olderAt: number
  /** When the state of the brake began that the window is about; undefined: no brake is on. */
  since: number | undefined
  /** Attempts that end before this time began in the state before. */
  from: number
}

const halfMs = 300_000
// Most attempts that are under way when a step begins have ended by then.
const settleMs = 60_000
// So many attempts say something about a site; a site whose campaign mail goes at a tenth needs fewer.
const leastTried = 30
const leastBraked = 5

/** A window for a state of the brake that begins now. */
export const openWindow = (since: number | undefined, now: number): SeenWindow => ({
  newer: noTally(),
  older: noTally(),
  newerAt: now,
  olderAt: now,
  since,
  from: since === undefined ? now : now + settleMs,
})

/** Adds what was seen. */
export function addSeen(window: SeenWindow, tally: SiteTally, now: number): void {
  if (!isRecent(window.newerAt, now, halfMs)) {
    window.older = isRecent(window.newerAt, now, 2 * halfMs) ? window.newer : noTally()
    window.olderAt = window.newerAt
    window.newer = noTally()
    window.newerAt = now
  }
  // After a clock was set back, attempts are counted all the same.
  if (now < window.from && isRecent(now, window.from, settleMs + 1)) return
  addTally(window.newer, tally)
}

/** Campaign mails a minute that the window has seen. */
export const paceOf = (window: SeenWindow, now: number): number =>
  (window.older.campaigns + window.newer.campaigns) / minutesOf(window, now)

const minutesOf = ({ olderAt }: SeenWindow, now: number) => Math.max(1, (now - olderAt) / 60_000)

/** True when nothing in the window counts any more. */
export const isOld = ({ newerAt }: SeenWindow, now: number): boolean =>
  !isRecent(newerAt, now, 2 * halfMs)

const causes = [
  { cause: 'blocked', bar: 'brakeBlocks', says: 'were refused as unwanted' },
  { cause: 'deferred', bar: 'brakeDeferrals', says: 'were put off' },
] as const

/**
 * What is over its threshold; `isOverUsual` says whether it is also over the usual. Undefined where too little was
 * seen, or no campaign mail.
 */
export function suspected(
  window: SeenWindow,
  policy: Policy,
  now: number,
): { cause: 'blocked' | 'deferred'; share: number; over: Over } | undefined {
  const all = noTally()
  addTally(all, window.older)
  addTally(all, window.newer)
  const least = window.since === undefined ? leastTried : leastBraked
  if (policy.brake === 'off' || all.tried < least) return undefined
  if (window.since === undefined && all.campaigns === 0) return undefined
  for (const { cause, bar, says } of causes) {
    const share = all[cause] / all.tried
    if (share < policy[bar] / 1_000) continue
    const minutes = minutesOf(window, now)
    const why = `${all[cause]} of ${all.tried} attempts ${says} within ${Math.ceil(minutes)} min`
    return { cause, share, over: { cause, why, perMinute: paceOf(window, now) } }
  }
  return undefined
}

/** Whether a share is more times the usual of the site than the policy allows; without a past, any share is. */
export function isOverUsual(
  { cause, share }: { cause: 'blocked' | 'deferred'; share: number },
  usual: SiteUsual,
  { brakeTimes }: Pick<Policy, 'brakeTimes'>,
): boolean {
  return usual.tried === 0 || share >= Math.min(1, (brakeTimes * usual[cause]) / usual.tried)
}
