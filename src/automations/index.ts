/**
 * Automations: what an account's events set off, step by step, for each contact. What must hold: a run
 * moves, and what it does is written, in one transaction; a contact has at most one live run of an
 * automation; an event that came after a run began is never missed by its waits; every live run has a
 * time to be looked at; who unsubscribes, bounces, complains or is deleted leaves all runs at once.
 */
export {
  type AcceptDeps,
  acceptEvents,
  tooManyRuns,
} from './accept.js'
export { runsAfterSetBack } from './after-set-back.js'
export {
  type Automation,
  type AutomationStatus,
  findAnyAutomation,
  findAutomation,
  listAutomations,
  readDefinition,
} from './automation.js'
export {
  type Backfill,
  findBackfill,
  judgeBackfill,
  startBackfill,
  stopBackfill,
} from './backfill.js'
export type { AutomationDefinition } from './definition.js'
export { createAutomation, editAutomation } from './edit.js'
export { type EngineDeps, makeEngineMemory, nextDueAt, runAutomations, runSome } from './engine.js'
export { explainRun } from './explain.js'
export { makeFollowAutomations } from './follow.js'
export { forgetRuns, makeForgetContactEvents } from './forget.js'
export { afterMs, readHappening } from './happening.js'
export {
  countHeld,
  type HeldRelease,
  type HeldRuns,
  holdOverdueRuns,
  holdRestoredRuns,
  overdueReason,
  releaseRuns,
  releases,
} from './hold.js'
export {
  type DomainUse,
  domainUses,
  refuseTemplateInUse,
  type TemplateUse,
  templateSenders,
  templateUses,
} from './in-use.js'
export { type LiveLimit, makeFollowContacts, makeLiveLimit } from './listeners.js'
export { type MoveGroup, moveRuns, newestVersion, planMove } from './move.js'
export { finishReleases, pauseAutomation, resumeAutomation } from './pause.js'
export { type AutomationPreview, previewAutomation } from './preview.js'
export type { AcceptedEvent, EventInput } from './repeats.js'
export { blockedReasons } from './run.js'
export { runBackfills } from './run-backfills.js'
export {
  endStatuses,
  findAnyRun,
  findRun,
  listRuns,
  liveStatuses,
  type Run,
  type RunStatus,
} from './runs.js'
export { shownPreview } from './shown.js'
export { automationStanding, liveFigures, type StepStanding, type Waits } from './standing.js'
export {
  archiveAutomation,
  cancelArchived,
  cancelRun,
  disableAutomation,
  enableAutomation,
} from './state.js'
export { makeVersions, type Versions } from './versions.js'
export { noteAllBlocked, wakeBlocked } from './wake-blocked.js'
