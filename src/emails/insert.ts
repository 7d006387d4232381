import {
  classNameOf,
  classOfMail,
  enqueue,
  type NewDelivery,
  recordSuppressed,
  type StreamDue,
} from '../deliveries/index.js'
import { preparedInsert, type Tx } from '../store/index.js'
import { attachmentsKey, putAttachments } from './attachments.js'
import type { EmailDeps } from './deps.js'
import type { PreparedEmail } from './prepare.js'
import { insertRawMessage } from './raw-message.js'

const insertBody = preparedInsert('bodies')
const insertEmail = preparedInsert('emails')
const insertTag = preparedInsert('email_tags')

/** What writing mails takes. */
export type InsertDeps = Pick<EmailDeps, 'store' | 'retry'>

/** Writes mails with their bodies and deliveries; equal bodies are written once. */
export async function insertEmails(
  deps: InsertDeps,
  tx: Tx,
  emails: readonly PreparedEmail[],
): Promise<void> {
  const written = new Map<string, { text: string | null; key: string; id: number }[]>()
  const bodyOf = async (email: PreparedEmail): Promise<number> => {
    const { html, text, attachments: carried } = email
    const key = attachmentsKey(carried)
    const sameHtml = written.get(html) ?? []
    const known = sameHtml.find((other) => other.text === text && other.key === key)
    if (known !== undefined) return known.id
    const id = deps.store.ids.serial()
    written.set(html, [...sameHtml, { text, key, id }])
    const attachments = await putAttachments(tx, deps.store, email.row.account_id, carried)
    await insertBody(tx, { id, html, text, attachments })
    return id
  }
  for (const email of emails) {
    const { raw, row, tags } = email
    if (raw !== undefined) await insertRawMessage(tx, deps.store, row, raw)
    await insertEmail(tx, { ...row, body_id: raw === undefined ? await bodyOf(email) : null })
    const { id: email_id, account_id } = row
    for (const { name, value } of tags) await insertTag(tx, { account_id, name, value, email_id })
  }
  await enqueue(
    tx,
    emails.flatMap((email) => deliveriesOf(deps, email)),
  )
  await recordSuppressed(
    tx,
    emails.flatMap((email) => suppressedOf(deps, email)),
  )
}

/** What the outbound threads have to hear of these mails. */
export function ringOf(emails: readonly PreparedEmail[]): StreamDue[] {
  return emails.flatMap((email) =>
    email.recipients.map(({ domain }) => ({
      lane: domain,
      class: classOf(email),
      accountId: email.row.account_id,
      dueAt: email.dueAt,
    })),
  )
}

const classOf = ({ row }: PreparedEmail) => classOfMail({ type: row.type, stepId: null })

function deliveriesOf(deps: InsertDeps, email: PreparedEmail): NewDelivery[] {
  const { row, recipients, dueAt } = email
  return recipients.map((recipient) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    accountId: row.account_id,
    recipient: recipient.address,
    lane: recipient.domain,
    class: classOf(email),
    dueAt,
    expiresAt: dueAt + deps.retry[classNameOf(classOf(email))].maxAge,
  }))
}

function suppressedOf(deps: InsertDeps, { row, suppressed }: PreparedEmail) {
  return suppressed.map(({ address }) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    recipient: address,
    at: row.created_at,
  }))
}
