/*
 * Owns a run: its row, what each step of the walk makes of it, why it waits and who sees it. What must hold: the walk
 * reads and writes nothing; every live run has a time to be looked at.
 */

export { meetAudience } from './audience.js'
export { type BegunDay, begunByDay } from './begun-by-day.js'
export { countLive, latelyCountLive } from './count-live.js'
export { drawnEnds, type EndKind, endKindOf } from './end-kinds.js'
export { inLastHour, refusalOf } from './entry.js'
export { endingWords, explainRun } from './explain.js'
export {
  endReasons,
  findRunIds,
  findRuns,
  type RunsFilter,
  stepIdsOf,
} from './find-runs.js'
export {
  blockedMark,
  blockedReason,
  countHeld,
  type HeldRelease,
  type HeldRuns,
  holdLive,
  holdOverdueRuns,
  holdRestoredRuns,
  isAnyHeld,
  isSkipping,
  overdueReason,
  releaseRuns,
  releases,
} from './hold.js'
export {
  checkLive,
  type EventColumns,
  eventsById,
  eventsOf,
  historyJson,
  type LiveRow,
  readHistory,
  stateOf,
  toEvent,
  waitsJson,
} from './live.js'
export { presentAtSteps, type StepStanding, stepsOfVersion } from './present.js'
export { contactColumns, contactOf, type RunContactRow } from './run-contact.js'
export { findAnyRun, findRun, listRuns, type Run, type RunsAsked } from './runs.js'
export {
  automationStanding,
  latelyWaitsOf,
  liveFigures,
  type Waits,
  waitsOf,
} from './standing.js'
export { type EntryRefusal, type RunStatus, runStatuses, statusesIn } from './status.js'
export { wakes } from './steps.js'
export { type PeriodStep, type PeriodSteps, stepsOfPeriod } from './steps-of-period.js'
export { type ContactChanges, changed } from './update.js'
export { walk } from './walk.js'
export { advanced, type RunFacts, type Walked, type WalkedEntry } from './walked.js'
