import { createHash } from 'node:crypto'
import {
  answeredAt,
  bounceLate,
  confirmRelayed,
  type Past,
  reportedOf,
  setReported,
} from '../deliveries/index.js'
import type { LandEvents, MailEvent } from '../events/index.js'
import type { Evidence, ReportedRecipient, Verdict } from '../reports/index.js'
import { isTestId, type Tx } from '../store/index.js'
import { suppress } from '../suppression/index.js'
import type { ReportReading } from './reading.js'

/** The result of a report for one delivery. */
export type Conclusion =
  | 'bounced'
  | 'delayed'
  | 'delivered'
  | 'complained'
  | 'complained without proof'
  | 'unsubscribed'
  /** The report changes nothing: it was known already, or is about no mail of ours. */
  | 'nothing'
  /** The delivery's end is not stored yet: ask again later. */
  | 'too early'

interface Deps {
  land: LandEvents
  now: number
}

/**
 * Applies a report to a delivery that it is certainly about, in one transaction. The same report
 * again changes nothing.
 */
export async function conclude(
  tx: Tx,
  past: Past,
  { report, verdicts, evidence }: ReportReading,
  deps: Deps,
): Promise<Conclusion> {
  if (report.kind === 'arf') {
    const { means, type } = report.feedback
    if (means === 'complaint') return await complain(tx, past, type, evidence, deps)
    if (means === 'unsubscribe') return await unsubscribe(tx, past, deps)
    return 'nothing'
  }
  const said = saidOf({ report, verdicts }, past.recipient)
  return said === undefined ? 'nothing' : await concludeOne(tx, past, said, deps)
}

/** What a report says about a recipient, for the log. */
export function inBrief(reading: ReportReading, recipient: string): Record<string, string> {
  if (reading.report.kind === 'arf') return { feedbackType: reading.report.feedback.type }
  const said = saidOf(reading, recipient)
  if (said === undefined) return {}
  const { reported, verdict } = said
  return { action: reported.action, class: verdict.class, rule: verdict.rule }
}

/** What a report says about one recipient, and its verdict. */
interface Said {
  reported: ReportedRecipient
  verdict: Verdict
}

/** What a bounce says about this recipient; undefined for a report of another kind. */
function saidOf({ report, verdicts }: ReportReading, recipient: string): Said | undefined {
  if (report.kind !== 'dsn') return undefined
  const at = indexOfRecipient(report.recipients, recipient)
  const reported = report.recipients[at]
  const verdict = verdicts[at]
  return reported && verdict && { reported, verdict }
}

/** Applies what a bounce says about its recipient. */
async function concludeOne(
  tx: Tx,
  past: Past,
  { reported, verdict }: Said,
  deps: Deps,
): Promise<Conclusion> {
  const reply = replyOf(reported)
  if (reported.action === 'delayed') return await noteDelay(tx, past, { reply, verdict }, deps)
  if (reported.action !== 'failed' && reported.action !== 'delivered') return 'nothing'
  // `notes/mta.md` §3: a report that names neither recipient nor cause says nothing.
  if (isVague(reported) && verdict.class === 'unknown') return 'nothing'
  if (past.status === 'waiting') return 'too early'
  if (reported.action === 'delivered') {
    const confirmed = await confirmRelayed(tx, { deliveryId: past.id, reply, ...deps })
    return confirmed ? 'delivered' : 'nothing'
  }
  const { class: bounceClass, rule, suppress: now, soft } = verdict
  const means = now ? 'now' : soft ? 'repeated' : undefined
  const detail = {
    // A mail that was refused for a reason of its own says nothing against the next one.
    bounceType: verdict.event === 'failed' ? ('Transient' as const) : verdict.bounceType,
    bounceClass,
    rule,
    ...(means === undefined ? {} : ({ suppress: means } as const)),
  }
  return (await bounceLate(tx, past, { reply, detail, ...deps })) ? 'bounced' : 'nothing'
}

/**
 * The block about this recipient. Each of our mails has one recipient, so other blocks were made on
 * the way.
 */
function indexOfRecipient(recipients: readonly ReportedRecipient[], address: string): number {
  const is = (named: string) => named.toLowerCase() === address.toLowerCase()
  const find = (fits: (one: ReportedRecipient) => boolean) => recipients.findIndex(fits)
  const own = find((one) => is(one.originalRecipient) || is(one.finalRecipient))
  if (own >= 0) return own
  const failed = find((one) => one.action === 'failed')
  return Math.max(failed, 0)
}

/** Whether a block names neither a recipient nor a status. */
const isVague = ({ status, finalRecipient, originalRecipient }: ReportedRecipient) =>
  status === '' && finalRecipient === '' && originalRecipient === ''

/** Cleaned, as a stranger wrote it, and terminals and pages show it. */
const replyOf = ({ diagnostic, status, remoteMta }: ReportedRecipient): string => {
  const said = diagnostic || status || 'the report gives no cause'
  const words = remoteMta === '' ? `Reported: ${said}` : `Reported by ${remoteMta}: ${said}`
  return words.replace(/\p{Cc}+/gu, ' ')
}

// How many reports of delay are noted: a server that warns once a day for the usual five days sends
// five; more is no news.
const maxDelays = 5

/** Notes that a server still tries; the same words again are no news. */
async function noteDelay(
  tx: Tx,
  past: Past,
  { reply, verdict }: { reply: string; verdict: Verdict },
  { land, now }: Deps,
): Promise<Conclusion> {
  const reported = await reportedOf(tx, past.id)
  const { delays } = reported
  const cause = createHash('sha256').update(reply).digest('base64url').slice(0, 12)
  if (delays.length >= maxDelays || delays.includes(cause)) return 'nothing'
  await setReported(tx, past.id, { ...reported, delays: [...delays, cause] })
  const { class: bounceClass, rule } = verdict
  await land(tx, [{ ...eventOf(past, 'deferred', now), reply, detail: { bounceClass, rule } }])
  return 'delayed'
}

/**
 * A complaint counts however the delivery ended, as whoever complains got the mail. It suppresses the
 * address even without proof, as only its own servers have the return path; a proof may come later.
 */
async function complain(
  tx: Tx,
  past: Past,
  feedbackType: string,
  evidence: Evidence | undefined,
  { land, now }: Deps,
): Promise<Conclusion> {
  const proved = evidence?.kind === 'proved'
  const reported = await reportedOf(tx, past.id)
  if (reported.complaint >= (proved ? 2 : 1)) return 'nothing'
  await setReported(tx, past.id, { ...reported, complaint: proved ? 2 : 1 })
  const { accountId, emailId, recipient: email } = past
  // The simulator sends complaints about test mail too, for which nobody must be suppressed.
  if (!isTestId(emailId)) {
    const record = {
      email,
      emailId,
      reason: 'complaint',
      detail: `Reported as ${feedbackType}`,
    } as const
    await suppress(tx, accountId, record, now)
  }
  const detail = { feedbackType, ...(proved ? { evidence: evidence.by } : {}) }
  await land(tx, [{ ...eventOf(past, 'complained', now), detail, answeredAt: answeredAt(past) }])
  return proved ? 'complained' : 'complained without proof'
}

/** A recipient unsubscribed at their provider, which reports it as a complaint of another kind. */
async function unsubscribe(tx: Tx, past: Past, { land, now }: Deps): Promise<Conclusion> {
  const reported = await reportedOf(tx, past.id)
  if (reported.unsubscribed === 1) return 'nothing'
  await setReported(tx, past.id, { ...reported, unsubscribed: 1 })
  const { accountId, emailId, recipient: email } = past
  const detail = 'Reported by the mailbox provider'
  if (!isTestId(emailId)) {
    await suppress(tx, accountId, { email, emailId, reason: 'unsubscribe', detail }, now)
  }
  await land(tx, [eventOf(past, 'unsubscribed', now)])
  return 'unsubscribed'
}

const eventOf = (past: Past, type: MailEvent['type'], at: number): MailEvent => ({
  accountId: past.accountId,
  emailId: past.emailId,
  deliveryId: past.id,
  recipient: past.recipient,
  class: past.class,
  type,
  at,
  reply: null,
  detail: null,
})
