/**
 * Reads reports of failures and complaints from raw mail, and has the rules by which a refusal,
 * live or reported, gets its class. Pure: no database, no clock, no settings. What must hold: no
 * bytes make it throw or take longer than its bounds allow; a report is a claim, and only the
 * caller, who has verified a token or message id, gives it effect. See README.md.
 */
export { type Aggregate, readAggregate } from './aggregate.js'
export { inReplyTo } from './answered-command.js'
export { autoReplyOf } from './auto-reply.js'
export { classify, type Said, saidInReply, verdictOf } from './classify.js'
export type { DmarcRecord, DmarcReport } from './dmarc-report.js'
export { saidOf } from './dsn.js'
export { type Evidence, evidenceOf, type ReportEnvelope } from './evidence.js'
export { type FeedbackLoop, loadFeedbackLoops } from './feedback-loops.js'
export { readReport } from './read.js'
export type { DsnAction, Feedback, Original, Report, ReportedRecipient } from './report.js'
export { loadBounceRules } from './rules-file.js'
export type { TlsReport } from './tls-report.js'
export {
  type BounceClass,
  type BounceRules,
  bounceClasses,
  type Retry,
  type Verdict,
} from './verdict.js'
export {
  type ArcVerdict,
  type Authenticated,
  authenticateMail,
  type CheckedMail,
  type DkimVerdict,
  makeChecks,
  parseVerdicts,
  type Verdicts,
} from './verdicts.js'
