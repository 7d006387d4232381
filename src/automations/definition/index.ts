/*
 * Owns what an automation is: its definition, checked and compiled, its versions, its state, and the words of its
 * rules. Pure but for the rows of automations and versions. What must hold: an enabled version never changes; what a
 * client is told to be wrong is named by its path.
 */
export { afterMs, durationMs, type Judged, type Variable } from '../../rules/index.js'
export {
  type Automation,
  type AutomationDeps,
  type AutomationStatus,
  definitionsOf,
  findAnyAutomation,
  findAutomation,
  listAutomations,
  nothing,
  readDefinition,
  refuseArchived,
  type WrittenAlongside,
} from './automation.js'
export { automationName, isAutomationName } from './automation-name.js'
export { checkEnabling, lackingIn } from './check-enabling.js'
export { ownEvents } from './check-step.js'
export { type Compiled, type CompiledStep, compile } from './compile.js'
export {
  type DateFound,
  type DateRule,
  dateEvent,
  dateFieldOf,
  dateFor,
  dateIn,
  dateRuleOf,
  dateSays,
  mostDays,
} from './date-trigger.js'
export { dateWords } from './date-words.js'
export {
  type AutomationDefinition,
  type AutomationSettings,
  type Branch,
  type DateOf,
  limits,
  maxWaitMs,
  type StepDefinition,
  type StepOf,
  type StepType,
  stepKey,
  stepTypes,
  type UpdateConfig,
} from './definition.js'
export {
  changedMeanwhile,
  changedSince,
  discardDraft,
  draftsAmong,
  keepTyped,
  keepWritten,
  readWritten,
  type WrittenAutomation,
} from './draft.js'
export { duplicateAutomation } from './duplicate.js'
export {
  createAutomation,
  definitionIn,
  editAutomation,
  InvalidAutomation,
  invalidAutomation,
} from './edit.js'
export { hears, listensTo, staysOn } from './exit-rules.js'
export {
  type FaultPart,
  faultCodes,
  type StepFault,
  type StepFaultCode,
  toldFaults,
} from './fault.js'
export { type Facts, resolve, shownContact } from './field.js'
export { stepsBefore } from './graph.js'
export {
  type DomainUse,
  domainUses,
  listUses,
  refuseTemplateInUse,
  type TemplatePlan,
  type TemplateUse,
  templatePlans,
  templateSenders,
  templateUses,
} from './in-use.js'
export { lastStarts } from './last-starts.js'
export {
  bodiesOf,
  type FilledSubject,
  fillIn,
  type MailTemplate,
  makeMailTemplates,
  render,
} from './mail-template.js'
export {
  graphOf,
  isOutlineStep,
  type Outline,
  type OutlineItem,
  type OutlineStep,
  type OutlineWay,
  outlineOf,
  stepsInOrder,
  waysOf,
} from './outline.js'
export { beginningPlace, type Crowd, isPlace, placeFields, placeIn } from './places.js'
export { holds, judge } from './rule.js'
export { ruleFieldKind } from './rule-tree.js'
export {
  appended,
  asRunContact,
  type BlockedReason,
  blockedReasons,
  type Departure,
  departureOf,
  type Engagement,
  type HistoryEntry,
  type Obstacle,
  type RunContact,
  type RunState,
  type StoredEvent,
  startRun,
} from './run.js'
export { versionsShown } from './shown-versions.js'
export { draftIn, isRule, soundStep } from './sound.js'
export {
  archiveAutomation,
  cancelArchived,
  cancelRows,
  cancelRun,
  disableAutomation,
  enableAutomation,
  putInForce,
} from './state.js'
export { faultsOf, type LiquidDeps, refuseBrokenSubjects } from './subject-faults.js'
export { type AskedTooSoon, askedTooSoon } from './too-soon.js'
export { validate } from './validate.js'
export {
  type FrozenVersion,
  frozenOf,
  makeVersions,
  readableVersion,
  type Versions,
} from './versions.js'
export { automationWarnings } from './warn.js'
export { zoneOf } from './zone.js'
