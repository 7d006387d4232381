/**
 * Automations: what an account's events set off, step by step, for each contact. What must hold: a run
 * moves, and what it does is written, in one transaction; a contact has at most one live run of an
 * automation; an event that came after a run began is never missed by its waits; every live run has a
 * time to be looked at; who unsubscribes, bounces, complains or is deleted leaves all runs at once.
 */

export {
  automationPage,
  automationsAnswer,
  detailAnswer,
  enabledAnswer,
  runPage,
  runsAnswer,
  shownPreview,
  shownRun,
  shownState,
  whyOf,
} from './answers.js'
export {
  type Automation,
  type AutomationDefinition,
  type AutomationStatus,
  archiveAutomation,
  blockedReasons,
  cancelArchived,
  cancelRun,
  createAutomation,
  type DomainUse,
  disableAutomation,
  domainUses,
  editAutomation,
  enableAutomation,
  findAnyAutomation,
  findAutomation,
  listAutomations,
  listUses,
  makeVersions,
  readDefinition,
  refuseTemplateInUse,
  type TemplateUse,
  templateSenders,
  templateUses,
  type Versions,
} from './definition/index.js'
export {
  type EngineDeps,
  makeEngineMemory,
  nextDueAt,
  noteAllBlocked,
  runAutomations,
  runSome,
  wakeBlocked,
} from './engine/index.js'
export {
  type AcceptDeps,
  type AcceptedEvent,
  acceptEvents,
  type EventInput,
  type LiveLimit,
  makeFollowAutomations,
  makeFollowContacts,
  makeLiveLimit,
  tooManyRuns,
} from './events/index.js'
export {
  automationStanding,
  countHeld,
  findAnyRun,
  findRun,
  type HeldRelease,
  type HeldRuns,
  holdOverdueRuns,
  holdRestoredRuns,
  listRuns,
  liveFigures,
  overdueReason,
  type Run,
  type RunStatus,
  releaseRuns,
  releases,
  runStatuses,
  type StepStanding,
  type Waits,
} from './runs/index.js'
export { type AutomationPreview, previewAutomation, readHappening } from './trial/index.js'
export {
  type Backfill,
  findBackfill,
  finishReleases,
  forgetRuns,
  judgeBackfill,
  type MoveGroup,
  makeForgetContactEvents,
  moveRuns,
  newestVersion,
  pauseAutomation,
  planMove,
  resumeAutomation,
  runBackfills,
  runsAfterSetBack,
  startBackfill,
  stopBackfill,
} from './upkeep/index.js'
