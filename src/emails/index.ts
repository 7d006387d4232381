/**
 * Takes mail in from API clients, and tells what happened to it. What must hold: mail that was
 * answered with 200 is committed with all its deliveries; a refusal stores nothing; every read and
 * write says which account it is for.
 */
export { type AcceptedEmail, acceptBatch, acceptEmail } from './accept.js'
export {
  type AttachmentRules,
  makeAttachmentReader,
  maxSendBytes,
  type NewAttachment,
  putAttachments,
} from './attachments.js'
export type { EmailFilter } from './candidates.js'
export { cancelScheduled, retryEmail } from './change.js'
export type { EmailDeps } from './deps.js'
export { givenFacts } from './facts.js'
export { makeFetchFile } from './fetch-file.js'
export { ownFields, refuseForeignFields } from './foreign-fields.js'
export {
  checkHeaders,
  headersFault,
  isOfServers,
  maxHeaderBytes,
  maxHeaders,
  maxHeadersBytes,
} from './header-fields.js'
export { type Idempotency, makeIdempotency } from './idempotency.js'
export { type InsertDeps, insertEmails, insertTags, queuedToOne, ringOf } from './insert.js'
export { keepAnswer, keyLifetimeMs } from './kept-answer.js'
export {
  type EmailPage,
  emailsAnswer,
  listEmails,
  maxLooked,
  type UntriedMails,
  untriedMails,
} from './list.js'
export { emailStatuses, filterFields, filterOf, moment as timeInQuery } from './list-query.js'
export { mailsByMessageIds } from './message-ids.js'
export { insertNotice, insertOwnMail } from './notice.js'
export { extrasOf, type PreparedEmail, warningsAbout } from './prepare.js'
export type { ChangeableParts, RawMessage } from './raw-message.js'
export {
  accountOfEmail,
  type EmailRecord,
  type MailHappening,
  readEmail,
  shownAttachment,
  timelineOf,
} from './read.js'
export {
  allEntered,
  enterAnew,
  enteredFor,
  neverMailed,
  readThrough,
  removeEntries,
  startRecipientIndex,
} from './recipient-index.js'
export { mostDaysAhead, parseScheduledAt, parseTime } from './schedule.js'
export { maxBatch, type SendInput, sendBody } from './send-body.js'
export {
  headers as mailHeaders,
  maxContentBytes,
  maxReplyTo,
  maxSubjectBytes,
  replyTo as mailReplyTo,
  tags as mailTags,
} from './send-fields.js'
export { verifiedSender } from './sender.js'
export type { EmailSummary } from './summary.js'
