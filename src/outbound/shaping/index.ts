/*
 * Owns how fast mail goes to whom: the shaping files, which site a destination belongs to, what may
 * start there now, and what the receivers' answers change. What must hold: no limit is ever exceeded
 * (of connections, rate, the day's ration of a new address); a part of each stays for transactional
 * mail; only a server's own words set an automation off; memory follows the sites in use, not those
 * ever seen. Pure but for `sources.ts` and `learned.ts`, which read and write one table each.
 */
export { loadReadableShaping, loadShaping, type ShapingData } from './data.js'
export { type Lasting, lasts } from './lasting.js'
export {
  forgetLearned,
  type LearnedRow,
  readLearned,
  type StoredLearned,
  saveLearned,
} from './learned.js'
export { allFrom, limitNames, type ShapingLimits, withoutBrake } from './limits.js'
export type { SiteOutcome, Suspension } from './parking.js'
export { type Policy, policyFor, shareOf, type ThreadShare } from './policy.js'
export {
  bulkLimit,
  rampDays,
  rampInWords,
  rampLimit,
  type SourceState,
  today,
} from './ramp.js'
export { type ActiveAction, automationsFor, type SiteAction } from './reactions.js'
export { makeShaping, policyInside, type Shaping, type ShapingOptions } from './shaping.js'
export {
  type Held,
  type Learned,
  makeSite,
  type Site,
  type SiteGate,
  type SiteOptions,
} from './site.js'
export { type SiteName, siteOf } from './site-name.js'
export {
  claimRation,
  forgetSources,
  listSources,
  nameUnnamed,
  readSource,
  saveSource,
  usedReason,
} from './sources.js'
export { isHostName } from './table.js'
export { addTally, noTally, type SiteBrake, type SiteTally } from './tally.js'
export { keptFrom, makeThrottle, type Rate, reserveOf, type Throttle } from './throttle.js'
export { reasonOf, type WaitReason } from './wait-reason.js'
export {
  isWarmedUp,
  makeWarmUp,
  noWarmUp,
  type Ration,
  type RationRequest,
  type TakenRation,
  type WarmUp,
  type WarmUpOptions,
} from './warm-up.js'
