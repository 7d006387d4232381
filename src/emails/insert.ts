import {
  classNameOf,
  classOfMail,
  enqueue,
  type NewDelivery,
  recordSuppressed,
  type StreamDue,
} from '../deliveries/index.js'
import { cell, type MailTag, prepared, preparedInsert, rowsOf, type Tx } from '../store/index.js'
import { attachmentsKey, putAttachments } from './attachments.js'
import type { EmailDeps } from './deps.js'
import type { PreparedEmail } from './prepare.js'
import { insertRawMessage } from './raw-message.js'

const insertBody = preparedInsert('bodies')
const insertEmail = preparedInsert('emails')

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
    const { raw, row } = email
    if (raw !== undefined) await insertRawMessage(tx, deps.store, row, raw)
    await insertEmail(tx, { ...row, body_id: raw === undefined ? await bodyOf(email) : null })
  }
  await insertTags(
    tx,
    emails.map(({ row: { id, account_id: accountId }, tags }) => ({ id, accountId, tags })),
  )
  await enqueue(
    tx,
    emails.flatMap((email) => deliveriesOf(deps, email)),
  )
  await recordSuppressed(
    tx,
    emails.flatMap((email) => suppressedOf(deps, email)),
  )
}

/** Enters the tags of mails, all in one statement, by which lists find them. */
export async function insertTags(
  tx: Tx,
  mails: readonly { id: string; accountId: string; tags: readonly MailTag[] }[],
): Promise<void> {
  const rows = mails.flatMap(({ id, accountId, tags }) =>
    tags.map(({ name, value }) => [accountId, name, value, id]),
  )
  if (rows.length > 0) await insertTagRows(tx, { json: JSON.stringify(rows) })
}

const insertTagRows = prepared<{ json: string }, unknown>((db, { json }) =>
  db
    .insertInto('email_tags')
    .columns(['account_id', 'name', 'value', 'email_id'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell<string>(0).as('account_id'),
          cell<string>(1).as('name'),
          cell<string>(2).as('value'),
          cell<string>(3).as('email_id'),
        ]),
    ),
)

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
