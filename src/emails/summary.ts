import type { Selectable } from 'kysely'
import { isoTime } from '../clock/index.js'
import {
  type EmailRow,
  type EmailStatus,
  isTestId,
  type MailExtras,
  type MailTag,
  readExtras,
  storedTexts,
  wholeExtras,
} from '../store/index.js'

/** A mail without its contents, as lists show it. Times are ISO 8601. */
export interface EmailSummary {
  id: string
  from: string
  to: string
  cc: readonly string[]
  bcc: readonly string[]
  subject: string
  tags: readonly MailTag[]
  status: EmailStatus
  type: 'transactional' | 'marketing'
  topicId: string | null
  /** The campaign that it belongs to. */
  broadcastId: string | null
  /** The slug of the template that it was made from. */
  template: string | null
  opensCount: number
  clicksCount: number
  openedAt: string | null
  clickedAt: string | null
  scheduledAt: string | null
  sentAt: string | null
  createdAt: string
  messageId: string
  provider: 'primary' | 'failover'
  /** A test key has handed it in: it went to the test inbox. */
  test: boolean
}

/** The columns read of `emails`, beside `broadcasts.extras as broadcast_extras`. */
export const summaryColumns = [
  ...(['emails.id', 'emails.account_id', 'emails.from_header', 'emails.to_list'] as const),
  ...(['emails.extras', 'emails.subject', 'emails.status', 'emails.type'] as const),
  ...(['emails.topic_id', 'emails.broadcast_id', 'emails.template', 'emails.opens'] as const),
  ...(['emails.clicks', 'emails.opened_at', 'emails.clicked_at', 'emails.scheduled_at'] as const),
  ...(['emails.sent_at', 'emails.created_at', 'emails.message_id', 'emails.provider'] as const),
  'emails.automation_step_id',
] as const

type Column = (typeof summaryColumns)[number] extends `emails.${infer C extends keyof EmailRow}`
  ? C
  : never

export type SummaryRow = Pick<Selectable<EmailRow>, Column> & {
  broadcast_extras: string | null
}

/** A mail's values beside its columns; mails of a campaign have the campaign's. */
export const extrasOfRow = (
  row: Pick<SummaryRow, 'extras' | 'broadcast_extras'>,
): MailExtras | undefined => readExtras(row.extras ?? row.broadcast_extras)

/** Unreadable fields of a damaged row are left empty. */
export function summaryOf(row: SummaryRow): EmailSummary {
  const { cc, bcc, tags } = wholeExtras(extrasOfRow(row))
  return {
    id: row.id,
    from: row.from_header,
    to: (storedTexts(row.to_list) ?? []).join(', '),
    cc,
    bcc,
    subject: row.subject,
    tags,
    status: row.status,
    type: row.type,
    topicId: row.topic_id,
    broadcastId: row.broadcast_id,
    template: row.template,
    opensCount: row.opens,
    clicksCount: row.clicks,
    openedAt: isoTime(row.opened_at),
    clickedAt: isoTime(row.clicked_at),
    scheduledAt: isoTime(row.scheduled_at),
    sentAt: isoTime(row.sent_at),
    createdAt: isoTime(row.created_at),
    messageId: row.message_id,
    provider: row.provider,
    test: isTestId(row.id),
  }
}
