import { applianceAccountId, openApplianceAccount } from '../accounts/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { oldestVerifiedDomain } from '../domains/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { type InsertDeps, insertEmails, ringOf } from './insert.js'
import type { PreparedEmail } from './prepare.js'

/**
 * Writes a mail of the appliance to its operator, which leaves whatever any account may do. `from`
 * may be empty: postmaster at the domain that was verified first. Resolves with what to ring the
 * outbound threads for, or undefined when there is no verified domain that could sign it.
 */
export async function insertNotice(
  deps: InsertDeps,
  tx: Tx,
  notice: { from: string; to: string; subject: string; text: string; now: number },
): Promise<StreamDue[] | undefined> {
  const { now, subject, text } = notice
  const to = parseMailbox(notice.to)
  const from = parseMailbox(notice.from)
  const domain = await oldestVerifiedDomain(tx, from?.domain)
  if (to === undefined || domain === undefined) return undefined
  await openApplianceAccount(tx)
  const id = deps.store.ids.uuid()
  const email: PreparedEmail = {
    html: `<pre>${text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)}</pre>`,
    text,
    tags: [],
    attachments: [],
    recipients: [to],
    suppressed: [],
    dueAt: now,
    row: {
      id,
      account_id: applianceAccountId,
      domain_id: domain.id,
      from_header: notice.from || `Posthorn <postmaster@${domain.name}>`,
      to_list: JSON.stringify([notice.to]),
      reply_to: null,
      extras: null,
      template: null,
      subject,
      type: 'transactional',
      topic_id: null,
      metadata: null,
      status: 'queued',
      message_id: `<${id}@${domain.name}>`,
      provider: 'primary',
      waiting: 1,
      delivered: 0,
      bounced: 0,
      failed: 0,
      opened_at: null,
      clicked_at: null,
      scheduled_at: null,
      sent_at: null,
      created_at: now,
    },
  }
  await insertEmails(deps, tx, [email])
  return ringOf([email])
}
