import type { MailEvent } from '../events/index.js'
import { parseMailbox } from '../mime/index.js'
import { prepared, storedTexts, type Tx } from '../store/index.js'
import type { WebhookEvent } from './event-names.js'

/** Which webhook an event is told by; the others are told by none. */
export const webhookOf: Partial<Record<MailEvent['type'], WebhookEvent>> = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
  failed: 'email.failed',
  opened: 'email.opened',
  clicked: 'email.clicked',
}

/** The fields and their order are interface.md's, 'Payload'. */
export interface Payload {
  event: WebhookEvent
  emailId: string
  to: string[]
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
  const payload: Payload = {
    event: webhook,
    emailId: event.emailId,
    to: event.recipient === null ? addressesIn(mail.to_list) : [event.recipient],
    subject: mail.subject,
    status: webhook.slice('email.'.length),
    timestamp: new Date(event.at).toISOString(),
    ...(hasMessageId ? { messageId: mail.message_id } : {}),
    ...(webhook === 'email.bounced'
      ? { bounceReason: event.detail?.bounceType ?? 'Permanent' }
      : {}),
    ...(mail.domain === null ? {} : { domainId: mail.domain_id, domain: mail.domain }),
  }
  return JSON.stringify(payload)
}

interface Mail {
  to_list: string
  subject: string
  message_id: string
  domain_id: string
  /** Null: deleted since. */
  domain: string | null
}

const mailOf = prepared<{ id: string }, Mail>((db, { id }) =>
  db
    .selectFrom('emails')
    .leftJoin('domains', 'domains.id', 'emails.domain_id')
    .select(['to_list', 'subject', 'message_id', 'domain_id', 'domains.name as domain'])
    .where('emails.id', '=', id),
)

const addressesIn = (toList: string) =>
  // What of the mail is broken keeps no event of it from being written.
  (storedTexts(toList) ?? []).map((text) => parseMailbox(text)?.address ?? text)
