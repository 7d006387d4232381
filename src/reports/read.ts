import { readFeedback } from './arf.js'
import { autoReplyOf } from './auto-reply.js'
import { readDeliveryStatus } from './dsn.js'
import { type Message, openMessage } from './message.js'
import { readOriginal } from './original.js'
import { causeFor, readPlainBounce } from './plain-bounce.js'
import type { Report } from './report.js'
import { tokensIn } from './tokens.js'

/**
 * Finds out what a mail is that came to a return path or to the feedback address. Never rejects;
 * what it finds is a claim: only a token or message id that the caller has verified gives it effect.
 */
export async function readReport(raw: Buffer): Promise<Report> {
  const message = await openMessage(raw)
  const common = { original: readOriginal(message), tokens: tokensIn(message) }
  return { ...common, ...readBody(message) }
}

type Body = Report extends infer R
  ? R extends Report
    ? Omit<R, 'original' | 'tokens'>
    : never
  : never

/** From what is certain to what is likely: structured reports, then bounces in words, then the rest. */
function readBody(message: Message): Body {
  const status = readDeliveryStatus(message)
  if (status !== undefined) {
    const failed = status.recipients.filter(({ action }) => action === 'failed')
    const recipients = status.recipients.map((recipient) =>
      recipient.action !== 'failed' || recipient.diagnostic !== ''
        ? recipient
        : {
            ...recipient,
            diagnostic: causeFor(message, recipient.finalRecipient, failed.length === 1),
          },
    )
    return { kind: 'dsn', form: 'RFC 3464', reportingMta: status.reportingMta, recipients }
  }
  const complaint = readFeedback(message)
  if (complaint !== undefined) return { kind: 'arf', ...complaint }
  // Before the marks of an auto-reply: many programs put those on their bounces as well.
  const bounce = readPlainBounce(message)
  if (bounce !== undefined) return { kind: 'dsn', reportingMta: '', ...bounce }
  const why = autoReplyOf(message)
  if (why !== undefined) return { kind: 'auto-reply', why }
  return { kind: 'not-a-report', why: 'It has no form of a bounce, complaint or automatic answer' }
}
