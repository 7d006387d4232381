/*
 * Owns what a mail says: the message of an email as each recipient gets it, composed, decorated and signed.
 * The same mail gets the same bytes on every attempt but for the signatures' time.
 */
export { MailFault } from './campaign-content.js'
export { makeComposer, type SignedMessage } from './compose.js'
export { makeSentCopies, type SentCopy } from './sent-copy.js'
export { makeViewedCopies } from './viewed-copy.js'
