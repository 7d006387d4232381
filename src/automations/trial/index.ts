/*
 * Owns the simulator: the walk of the engine over an invented or a real contact, nothing written. What must hold:
 * engine and simulator tell the same history.
 */
export type { CohortCounts } from './cohort.js'
export { readHappening } from './happening.js'
export {
  type AutomationPreview,
  type PreviewDeps,
  previewAutomation,
  previewCohort,
} from './preview.js'
export type { TrialRefusal } from './simulation.js'
export { type DateSurvey, surveyDates } from './survey-dates.js'
export {
  type MailDeed,
  type UnseenDeed,
  type UnseenDeps,
  type UnseenMail,
  unseenAmong,
} from './unseen.js'
