import { applianceAccountId, openApplianceAccount } from '../accounts/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { oldestVerifiedDomain } from '../domains/index.js'
import { parseMailbox } from '../mime/index.js'
import { type Tx, writeExtras } from '../store/index.js'
import { type InsertDeps, insertEmails, queuedToOne, ringOf } from './insert.js'
import type { PreparedEmail } from './prepare.js'
import type { RawMessage } from './raw-message.js'

/**
 * Writes a mail of the appliance to its operator, which no account's limits or state hold back. An empty
 * `from` means postmaster at the domain that was verified first. Resolves with the mail's id and what to
 * ring the outbound threads for, or undefined when there is no verified domain that could sign it.
 */
export async function insertNotice(
  deps: InsertDeps,
  tx: Tx,
  notice: { from: string; to: string; subject: string; text: string; html?: string; now: number },
): Promise<{ id: string; due: StreamDue[] } | undefined> {
  const { now, subject, text, to } = notice
  const domain = await oldestVerifiedDomain(tx, parseMailbox(notice.from)?.domain)
  if (domain === undefined) return undefined
  const from = notice.from || `Posthorn <postmaster@${domain.name}>`
  const html =
    notice.html ?? `<pre>${text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)}</pre>`
  const id = deps.store.ids.uuid()
  const messageId = `<${id}@${domain.name}>`
  const mail = { id, domainId: domain.id, from, to, subject, messageId, html, text, now }
  const due = await insertOwnMail(deps, tx, mail)
  return due && { id, due }
}

/**
 * A mail of the appliance itself; `raw` replaces the text if the message was written as a whole.
 */
export interface OwnMail {
  id: string
  /** The domain that signs it. */
  domainId: string
  from: string
  to: string
  subject: string
  messageId: string
  html?: string
  text?: string
  raw?: RawMessage
  now: number
}

/**
 * Writes a mail of the appliance, which counts in no account's quota or rates. Resolves with what to
 * ring for, or undefined if `to` is no address.
 */
export async function insertOwnMail(
  deps: InsertDeps,
  tx: Tx,
  mail: OwnMail,
): Promise<StreamDue[] | undefined> {
  const to = parseMailbox(mail.to)
  if (to === undefined) return undefined
  await openApplianceAccount(tx)
  const email: PreparedEmail = {
    html: mail.html ?? '',
    text: mail.text ?? null,
    raw: mail.raw,
    tags: [],
    attachments: [],
    recipients: [to],
    suppressed: [],
    dueAt: mail.now,
    row: {
      id: mail.id,
      account_id: applianceAccountId,
      domain_id: mail.domainId,
      from_header: mail.from,
      to_list: JSON.stringify([mail.to]),
      reply_to: null,
      // RFC 3834 §5: no vacation notice shall answer, as its answer would come here to be sent on.
      extras:
        mail.raw === undefined
          ? writeExtras({ headers: { 'Auto-Submitted': 'auto-generated' } })
          : null,
      template: null,
      subject: mail.subject,
      type: 'transactional',
      topic_id: null,
      metadata: null,
      ...queuedToOne,
      message_id: mail.messageId,
      opened_at: null,
      clicked_at: null,
      scheduled_at: null,
      sent_at: null,
      created_at: mail.now,
    },
  }
  await insertEmails(deps, tx, [[email]])
  return ringOf([email])
}
