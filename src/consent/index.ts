/**
 * The consent record: for each address of an account, how it came in, what it has left and by which mail, and who took
 * that back. What must hold: rows are only ever added, in the transaction of what they record. They outlive contact,
 * list, topic and mail.
 */

export {
  type ConsentDetail,
  type ConsentEvent,
  type ConsentKind,
  consentHistory,
  consentSince,
  lastConsentId,
  recordConsent,
  wordsOfLeaving,
} from './history.js'
