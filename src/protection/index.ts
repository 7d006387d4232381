/**
 * Stops an account before mailbox providers stop the whole host. What must hold: rates are counted
 * in the transaction of their event, which also writes a pause that follows, at that very event;
 * reading the rates never scans the log; only an operator lets a paused account go on; every
 * warning, pause and clearing is in the audit log; nothing here identifies a single recipient. See
 * README.md.
 */
export { type AuditAction, type AuditEntry, actionWords, byItself, readAudit } from './audit.js'
export { makeProtection } from './follow.js'
export { announceOnce } from './notices.js'
export { forgetOldCounts } from './once.js'
export { pauseByOperator, unpause } from './operator.js'
export { largeProviderOf, type ProviderTotals, providerOf, readProviders } from './providers.js'
export {
  type AccountStanding,
  countPaused,
  highestRates,
  readStanding,
  troubledAccounts,
} from './standing.js'
export { alarmOf, type ProtectionSettings, rateOf, shownRate } from './thresholds.js'
export { readHours, type Totals } from './window.js'
