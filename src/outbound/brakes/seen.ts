import { isRecent } from '../../clock/index.js'
import { addTally, noTally, type Policy, type SiteTally } from '../shaping/index.js'
import type { SiteUsual } from './days.js'
import type { Over } from './next-brake.js'

/**
 * What a thread has lately seen at a site from a source. Two halves, of which the older one is dropped when the newer is
 * full, so that five to ten minutes are looked at.
 */
export interface SeenWindow {
  newer: SiteTally
  older: SiteTally
  /** When the newer half began, and the older one. */
  newerAt: number
  olderAt: number
  /** The state of the brake that it is about; undefined: none is on. */
  since: number | undefined
  /** What ends before is of attempts that began in the state before. */
  from: number
}

const halfMs = 300_000
// Whatever is under way when a step begins ends by then, mostly.
const settleMs = 60_000
// So many attempts say something of a site, and so few of one whose campaign mail goes at a tenth.
const leastTried = 30
const leastBraked = 5

/** Begins to look, at a state of the brake. */
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
  // A clock that was set back is no reason to look away.
  if (now < window.from && isRecent(now, window.from, settleMs + 1)) return
  addTally(window.newer, tally)
}

/** Campaign mails a minute that it has seen. */
export const paceOf = (window: SeenWindow, now: number): number =>
  (window.older.campaigns + window.newer.campaigns) / minutesOf(window, now)

const minutesOf = ({ olderAt }: SeenWindow, now: number) => Math.max(1, (now - olderAt) / 60_000)

/** Nothing of it is told any more. */
export const isOld = ({ newerAt }: SeenWindow, now: number): boolean =>
  !isRecent(newerAt, now, 2 * halfMs)

const causes = [
  { cause: 'blocked', bar: 'brakeBlocks', says: 'were refused as unwanted' },
  { cause: 'deferred', bar: 'brakeDeferrals', says: 'were put off' },
] as const

/**
 * What is over its threshold by itself; whether it is over the usual too is for `isOverUsual`. Undefined where too little was
 * seen, or no campaign is in it.
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

/** Whether a share is as many times what the site usually has as the policy allows; without a past any is. */
export function isOverUsual(
  { cause, share }: { cause: 'blocked' | 'deferred'; share: number },
  usual: SiteUsual,
  { brakeTimes }: Pick<Policy, 'brakeTimes'>,
): boolean {
  return usual.tried === 0 || share >= Math.min(1, (brakeTimes * usual[cause]) / usual.tried)
}
