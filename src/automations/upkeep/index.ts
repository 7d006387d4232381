/*
 * Owns what operators do to many runs (pause and resume, moves to newer versions, starts over a list) and what a clock
 * that was set back or an age asks for. What must hold: all of it goes on, or is finished, after a kill.
 */
export { runsAfterSetBack } from './after-set-back.js'
export {
  type Backfill,
  crowdOf,
  findBackfill,
  type JudgedCrowd,
  judgeBackfill,
  onTheirDay,
  requireCrowd,
  startBackfill,
  stopBackfill,
} from './backfill.js'
export { forgetRuns, makeForgetContactEvents } from './forget.js'
export { type MoveGroup, moveRuns, newestVersion, planMove, planMoveToDraft } from './move.js'
export { finishReleases, pauseAutomation, resumeAutomation } from './pause.js'
export { planResume, type ResumePlan } from './plan-resume.js'
export { runBackfills } from './run-backfills.js'
export { datesDueAt, datesWait, makeDateKeeper } from './run-dates.js'
export { startForContact, whyNotStarted } from './start-one.js'
export {
  findTakeOut,
  lastTakeOut,
  makeTakeOuts,
  orderTakeOut,
  type TakeOuts,
  type TakeOutTask,
  takeOutsUnderWay,
} from './take-out.js'
