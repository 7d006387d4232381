/**
 * Whom an account must not mail, and why. What must hold: an address counts as a whole in lower
 * case; what is recorded stays, whatever becomes of contacts, lists and mails, until it is lifted
 * by name, but for a bounce of the kind that passes, which ends after 30 days; no record ever gets
 * weaker by another. Bounces and complaints block everything, an
 * unsubscribe blocks marketing alone (`decisions.md`).
 */

export { suppressedAmong, suppressionsAmong } from './among.js'
export {
  addedSuppression,
  addressAnswer,
  newSuppression,
  removedSuppression,
  shownSuppression,
  suppressionPage,
  suppressionsAnswer,
} from './answers.js'
export {
  exportSuppressions,
  importSuppressions,
  type LineFault,
  type SuppressionImportCounts,
} from './csv.js'
export { columnKey, csvLine, emailColumns, reasonOf, withoutApostrophe } from './csv-line.js'
export {
  erasedAlone,
  erasedAmong,
  eraseSuppressions,
  liftErasure,
  suppressReturned,
} from './erased.js'
export { suppressFailing } from './failing.js'
export { listSuppressions, suppressionsOf } from './list.js'
export {
  type Lifting,
  lift,
  liftExpired,
  type NewSuppression,
  type Suppression,
  type SuppressionReason,
  type SuppressionScope,
  strength,
  suppress,
  suppressionReasons,
} from './suppress.js'
