import type { Insertable } from 'kysely'
import {
  classNameOf,
  classOfMail,
  enqueue,
  laneOf,
  type NewDelivery,
  recordSuppressed,
  type StreamDue,
} from '../deliveries/index.js'
import {
  type BodyRow,
  type EmailRow,
  type MailTag,
  preparedInsertAll,
  type Tx,
} from '../store/index.js'
import { attachmentsKey, putAttachments } from './attachments.js'
import type { EmailDeps } from './deps.js'
import type { PreparedEmail } from './prepare.js'
import { insertRawMessage } from './raw-message.js'

const insertBodies = preparedInsertAll('bodies')
const insertRows = preparedInsertAll('emails')

/** Columns of a mail to one recipient that waits in the queue. */
export const queuedToOne = {
  status: 'queued',
  provider: 'primary',
  waiting: 1,
  delivered: 0,
  bounced: 0,
  failed: 0,
} as const

/** What writing mails needs. */
export type InsertDeps = Pick<EmailDeps, 'store' | 'retry'>

/** Writes requests' mails with their bodies and deliveries; a body that a request repeats is written once. */
export async function insertEmails(
  deps: InsertDeps,
  tx: Tx,
  requests: readonly (readonly PreparedEmail[])[],
): Promise<void> {
  const bodies: Insertable<BodyRow>[] = []
  const rows: Insertable<EmailRow>[] = []
  for (const emails of requests) {
    const ids = await bodiesFor(deps, tx, emails, bodies)
    for (const [i, { raw, row }] of emails.entries()) {
      if (raw !== undefined) await insertRawMessage(tx, deps.store, row, raw)
      rows.push({ body_id: ids[i] ?? null, ...row })
    }
  }
  await insertBodies(tx, bodies)
  await insertRows(tx, rows)
  const emails = requests.flat()
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

// A hundred texts that differed in their last letters were each compared with all earlier ones: 9 µs a mail of 10
// KB. If more than this many bodies take turns, some are written again.
const mostAlike = 8

/**
 * The ids of the bodies of a request's mails, in their order, null for a message that came whole. Rows of new
 * bodies are added to `bodies`; their attachments are stored.
 */
async function bodiesFor(
  { store }: InsertDeps,
  tx: Tx,
  emails: readonly PreparedEmail[],
  bodies: Insertable<BodyRow>[],
): Promise<(number | null)[]> {
  // Keyed by the length of the HTML: V8 would hash a text as a key, which takes 8 µs for 5 KB.
  const made = new Map<number, { html: string; text: string | null; key: string; id: number }[]>()
  const found: (number | null)[] = []
  for (const { html, text, attachments: carried, raw, row } of emails) {
    if (raw !== undefined) {
      found.push(null)
      continue
    }
    const key = attachmentsKey(carried)
    const alike = made.get(html.length) ?? []
    const known = alike.find(
      (other) => other.html === html && other.text === text && other.key === key,
    )
    const id = known?.id ?? store.ids.serial()
    found.push(id)
    if (known !== undefined) continue
    alike.unshift({ html, text, key, id })
    made.set(html.length, alike.slice(0, mostAlike))
    const attachments = await putAttachments(tx, store, row.account_id, carried)
    bodies.push({ id, html, text, attachments })
  }
  return found
}

/** Enters the tags of mails, by which lists find them, in one statement. */
export async function insertTags(
  tx: Tx,
  mails: readonly { id: string; accountId: string; tags: readonly MailTag[] }[],
): Promise<void> {
  await insertTagRows(
    tx,
    mails.flatMap(({ id, accountId, tags }) =>
      tags.map(({ name, value }) => ({ account_id: accountId, name, value, email_id: id })),
    ),
  )
}

const insertTagRows = preparedInsertAll('email_tags')

/** What the outbound threads have to be told about these mails. */
export function ringOf(emails: readonly PreparedEmail[]): StreamDue[] {
  return emails.flatMap((email) =>
    email.recipients
      .filter(({ address }) => email.held === undefined || !email.held.addresses.has(address))
      .map(({ domain }) => ({
        lane: laneOf(email.row.id, domain),
        class: classOf(email),
        accountId: email.row.account_id,
        dueAt: email.dueAt,
      })),
  )
}

const classOf = ({ row }: PreparedEmail) => classOfMail({ type: row.type, stepId: null })

/** A row of the queue for each recipient, as each has its own fate. */
function deliveriesOf(deps: InsertDeps, email: PreparedEmail): NewDelivery[] {
  const { row, recipients, dueAt, held } = email
  return recipients.map((recipient) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    accountId: row.account_id,
    recipient: recipient.address,
    lane: laneOf(row.id, recipient.domain),
    class: classOf(email),
    dueAt,
    expiresAt: dueAt + deps.retry[classNameOf(classOf(email))].maxAge,
    held: held?.addresses.has(recipient.address)
      ? { at: row.created_at, reason: held.reason }
      : undefined,
  }))
}

/** Suppressed recipients are stored too: the mail has to tell what happened to everybody. */
function suppressedOf(deps: InsertDeps, { row, suppressed }: PreparedEmail) {
  return suppressed.map(({ address }) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    recipient: address,
    at: row.created_at,
  }))
}
