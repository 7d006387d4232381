/**
 * Whom an account must not mail, and why. What must hold: an address counts as a whole in lower case; a record stays,
 * whatever happens to contacts, lists and mails, until it is lifted by name, except that of a temporary bounce, which
 * ends after 30 days; no record makes another weaker. Bounces and complaints block everything, an unsubscribe blocks
 * only marketing (`decisions.md`).
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
