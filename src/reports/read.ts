import { withCommand } from './answered-command.js'
import { readFeedback } from './arf.js'
import { autoReplyOf } from './auto-reply.js'
import { reportText } from './causes.js'
import { readDeliveryStatus, statusOf } from './dsn.js'
import type { ReportEnvelope } from './evidence.js'
import { type Message, openMessage } from './message.js'
import { readOriginal } from './original.js'
import { withoutClosing } from './own-reply.js'
import { causeFor, readPlainBounce } from './plain-bounce.js'
import type { Report, ReportedRecipient } from './report.js'
import { readSesNotification } from './ses-notification.js'

/**
 * Finds out what a mail to a return path or to the feedback address is. Never rejects. The result is a claim:
 * only a token or message id that the caller has verified gives it effect. Without an `envelope` only
 * Return-Path shows the null sender.
 */
export async function readReport(
  raw: Buffer,
  envelope?: Pick<ReportEnvelope, 'mailFrom'>,
): Promise<Report> {
  const message = await openMessage(raw, envelope?.mailFrom)
  const common = { original: readOriginal(message), tokens: tokensIn(message) }
  return { ...common, ...readBody(message) }
}

type Body = Report extends infer R
  ? R extends Report
    ? Omit<R, 'original' | 'tokens'>
    : never
  : never

/** From certain to likely: structured reports, then bounces in plain words, then the rest. */
function readBody(message: Message): Body {
  const status = readDeliveryStatus(message)
  if (status !== undefined) {
    const failed = status.recipients.filter(({ action }) => action === 'failed')
    const inReply = withCommand(reportText(message))
    const recipients = status.recipients
      .map((recipient) => completed(recipient, message, failed.length === 1))
      .map((recipient) => ({ ...recipient, diagnostic: inReply(recipient.diagnostic) }))
    return { kind: 'dsn', form: 'RFC 3464', reportingMta: status.reportingMta, recipients }
  }
  const bounced = readSesNotification(message)
  if (bounced !== undefined) {
    return { kind: 'dsn', form: 'Amazon SES', reportingMta: '', recipients: bounced }
  }
  const complaint = readFeedback(message)
  if (complaint !== undefined) return { kind: 'arf', ...complaint }
  // Before the marks of an auto-reply, as many programs put these on their bounces too.
  const bounce = readPlainBounce(message)
  if (bounce !== undefined) return { kind: 'dsn', reportingMta: '', ...bounce }
  const why = autoReplyOf(message)
  if (why !== undefined) return { kind: 'auto-reply', why }
  return { kind: 'not-a-report', why: 'It has no form of a bounce, complaint or automatic answer' }
}

/**
 * A recipient of a report, completed from the readable part if the machine-readable part lacks the cause or the
 * recipient.
 */
function completed(
  recipient: ReportedRecipient,
  message: Message,
  alone: boolean,
): ReportedRecipient {
  const { action, diagnostic, finalRecipient, originalRecipient, remoteMta, status } = recipient
  const isNamed = finalRecipient !== '' || originalRecipient !== ''
  const isTold = diagnostic !== '' && isNamed
  if (isTold || (action !== 'failed' && action !== 'delayed')) return recipient
  const cause = causeFor(
    message,
    finalRecipient || originalRecipient,
    alone || action === 'delayed',
  )
  if (cause === undefined) return recipient
  const told = diagnostic || withoutClosing(cause.diagnostic)
  return {
    ...recipient,
    // OpenSMTPD reports its giving up in the form of a delay warning.
    action: /^Envelope expired/i.test(told) ? 'failed' : action,
    status: statusOf(status, told),
    diagnostic: told,
    remoteMta: remoteMta || cause.host,
    finalRecipient: isNamed ? finalRecipient : cause.address,
  }
}

// The form that deliveries/return-path.ts signs; relays may change its case, but not its length.
const token = /(?<![a-z0-9])b[a-z][a-z2-7]{29}@[a-z0-9.-]{1,253}/gi
const maxTokens = 20

/** Texts that look like our return paths, in the mail's order. */
function tokensIn({ source, text, parts }: Message): string[] {
  const found = new Set<string>()
  for (const place of [source, text, ...parts.map(({ body }) => body)]) {
    for (const [address] of place.matchAll(token)) {
      if (found.size === maxTokens) return [...found]
      found.add(address.toLowerCase().replace(/[.-]+$/, ''))
    }
  }
  return [...found]
}
