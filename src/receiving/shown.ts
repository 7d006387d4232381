import { isoTime } from '../clock/index.js'
import { storedJson } from '../store/index.js'
import type { ReadableRow } from './arrive.js'
import type { KeptAttachment } from './kept.js'

/** How far the reading of a mail is. */
export const receivedStates = ['reading', 'read', 'unreadable'] as const

/** As the API lists it. */
export type ReceivedMailSummary = ReturnType<typeof summaryOf>

/** What a list shows of a received mail. */
export const summaryOf = (row: ReadableRow) => ({
  id: row.id,
  domainId: row.domain_id,
  ruleId: row.rule_id,
  action: row.action,
  recipient: row.recipient,
  from: row.header_from,
  envelopeFrom: row.mail_from,
  subject: row.subject,
  receivedAt: isoTime(row.received_at),
  size: row.size_bytes,
  state: stateOf(row),
  messageId: row.message_id,
  inReplyTo: row.in_reply_to,
  emailId: row.email_id,
  answers: row.email_id,
  automatic: row.automatic,
  loop: row.is_loop === 1,
  checks:
    stateOf(row) !== 'reading' && row.spf !== ''
      ? { spf: row.spf, dkim: row.dkim, dmarc: row.dmarc, arc: row.arc }
      : null,
  spam: spamOf(row),
  attachmentCount: row.attachments,
})

export function stateOf({
  due_at,
  fault,
}: Pick<ReadableRow, 'due_at' | 'fault'>): (typeof receivedStates)[number] {
  if (due_at !== null) return 'reading'
  return fault === null ? 'read' : 'unreadable'
}

/** What the spam filter said. */
export interface SpamMark {
  score: number
  required: number
  action: string
  symbols: string[]
}

/** Null: no filter was asked, it did not answer in time, or the stored answer is broken. */
export const spamOf = ({ spam }: Pick<ReadableRow, 'spam'>): SpamMark | null =>
  (storedJson(spam) as SpamMark | null | undefined) ?? null

/** A file as clients see it, by its place in the mail. */
export const shownAttachment = (
  receivedId: string,
  { filename, contentType, sizeBytes, disposition, contentId, sha256 }: KeptAttachment,
  index: number,
) => ({
  number: index + 1,
  filename,
  contentType,
  size: sizeBytes,
  disposition,
  contentId: contentId ?? null,
  sha256,
  path: `/v1/received/${receivedId}/attachments/${index + 1}`,
})
