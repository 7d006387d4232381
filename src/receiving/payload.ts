import { isoTime } from '../clock/index.js'
import type { ReadableRow } from './arrive.js'
import type { KeptAttachment } from './kept.js'
import type { ReadMail } from './read-mail.js'
import { shownAttachment, spamOf, summaryOf } from './shown.js'

// A webhook is a notice: the API has all of a long mail.
const mostTextChars = 64 * 1024
const mostHeaders = 60
const mostHeaderChars = 500

/**
 * The body of `email.received`: the fields of every webhook, and `received` with what came in. It is not whole where
 * `incomplete` says so.
 */
export function receivedPayload(
  row: ReadableRow,
  read: Pick<ReadMail, 'text' | 'html' | 'headers'>,
  attachments: readonly KeptAttachment[],
): string {
  const { emailId, state, checks, automatic, loop } = summaryOf(row)
  const { text, headers } = read
  const isCut =
    (text ?? '').length > mostTextChars ||
    headers.length > mostHeaders ||
    headers.some(({ value }) => value.length > mostHeaderChars)
  return JSON.stringify({
    event: 'email.received',
    emailId: row.id,
    to: [row.recipient],
    subject: row.subject,
    status: 'received',
    timestamp: isoTime(row.received_at),
    messageId: row.message_id,
    received: {
      receivedId: row.id,
      state,
      fault: row.fault,
      from: row.header_from,
      envelopeFrom: row.mail_from,
      ruleId: row.rule_id,
      inReplyTo: row.in_reply_to,
      answers: emailId,
      text: text?.slice(0, mostTextChars) ?? null,
      hasHtml: read.html !== null,
      headers: headers
        .slice(0, mostHeaders)
        .map(({ name, value }) => ({ name, value: value.slice(0, mostHeaderChars) })),
      incomplete: row.fault !== null || isCut,
      checks,
      spam: spamOf(row),
      automatic,
      loop,
      size: row.size_bytes,
      attachments: attachments.map((one, index) => shownAttachment(row.id, one, index)),
    },
  })
}
