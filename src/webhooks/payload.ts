import { isoTime } from '../clock/index.js'
import type { MailEvent } from '../events/index.js'
import { parseMailbox } from '../mime/index.js'
import {
  isTestId,
  type MailTag,
  prepared,
  readExtras,
  storedTexts,
  type Tx,
} from '../store/index.js'
import type { WebhookEvent } from './event-names.js'

/** The webhook that tells an event; other events have none. */
export const webhookOf: Partial<Record<MailEvent['type'], WebhookEvent>> = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
  failed: 'email.failed',
  opened: 'email.opened',
  clicked: 'email.clicked',
}

/** The fields and their order are those of interface.md, 'Payload', plus cc, bcc and tags. */
export interface Payload {
  event: WebhookEvent
  emailId: string
  to: string[]
  /** All of the mail's addresses in Cc, whichever recipient the event is about. */
  cc?: string[]
  bcc?: string[]
  tags?: readonly MailTag[]
  /** Only for mail of a test key. */
  test?: true
  subject: string
  status: string
  timestamp: string
  messageId?: string
  bounceReason?: 'Permanent' | 'Transient'
  domainId?: string
  domain?: string
}

/** The body of a webhook, to be kept as it is: its bytes are what is signed at every attempt. */
export async function payloadOf(
  tx: Tx,
  event: MailEvent,
  webhook: WebhookEvent,
): Promise<string | undefined> {
  const [mail] = await mailOf(tx, { id: event.emailId })
  if (mail === undefined) return undefined
  const hasMessageId = webhook !== 'email.opened' && webhook !== 'email.clicked'
  // A broken part of the mail must not keep its events from being written.
  const { cc, bcc, tags } = readExtras(mail.extras ?? mail.broadcast_extras) ?? {}
  const payload: Payload = {
    event: webhook,
    emailId: event.emailId,
    to: event.recipient === null ? addressesIn(storedTexts(mail.to_list) ?? []) : [event.recipient],
    ...(cc === undefined ? {} : { cc: addressesIn(cc) }),
    ...(bcc === undefined ? {} : { bcc: addressesIn(bcc) }),
    ...(tags === undefined ? {} : { tags }),
    ...(isTestId(event.emailId) ? { test: true } : {}),
    subject: mail.subject,
    status: webhook.slice('email.'.length),
    timestamp: isoTime(event.at),
    ...(hasMessageId ? { messageId: mail.message_id } : {}),
    ...(webhook === 'email.bounced'
      ? { bounceReason: event.detail?.bounceType ?? 'Permanent' }
      : {}),
    ...(mail.domain === null ? {} : { domainId: mail.domain_id, domain: mail.domain }),
  }
  return JSON.stringify(payload)
}

/** What a webhook says about a mail. */
interface Mail {
  to_list: string
  subject: string
  message_id: string
  domain_id: string
  extras: string | null
  broadcast_extras: string | null
  /** Null: deleted since. */
  domain: string | null
}

/** A mail by its id, with its domain, and its campaign's extras where it has none itself. */
const mailOf = prepared<{ id: string }, Mail>((db, { id }) =>
  db
    .selectFrom('emails')
    .leftJoin('domains', 'domains.id', 'emails.domain_id')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select(['to_list', 'emails.subject', 'message_id', 'emails.domain_id'])
    .select(['domains.name as domain', 'emails.extras', 'broadcasts.extras as broadcast_extras'])
    .where('emails.id', '=', id),
)

/** Addresses without their names; an address that cannot be read stays as it is. */
const addressesIn = (given: readonly string[]) =>
  given.map((text) => parseMailbox(text)?.address ?? text)
