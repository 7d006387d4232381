import { enqueue, type LaneDue, type NewDelivery, recordSuppressed } from '../deliveries/index.js'
import { queueClass, type Tx } from '../store/index.js'
import type { EmailDeps } from './deps.js'
import type { PreparedEmail } from './prepare.js'

// Few enough parameters for SQLite and PostgreSQL: an email has 20.
const rowsPerInsert = 50

/** Writes mails with their bodies and deliveries; equal bodies are written once. */
export async function insertEmails(
  deps: EmailDeps,
  tx: Tx,
  emails: readonly PreparedEmail[],
): Promise<void> {
  for (let start = 0; start < emails.length; start += rowsPerInsert) {
    const some = emails.slice(start, start + rowsPerInsert)
    const bodies: { id: number; html: string; text: string | null }[] = []
    const rows = some.map((email) => {
      const { html, text } = email
      let body = bodies.find((other) => other.html === html && other.text === text)
      if (body === undefined) {
        body = { id: deps.store.ids.serial(), html, text }
        bodies.push(body)
      }
      return { ...email.row, body_id: body.id }
    })
    await tx.insertInto('bodies').values(bodies).execute()
    await tx.insertInto('emails').values(rows).execute()
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
export function ringOf(emails: readonly PreparedEmail[]): LaneDue[] {
  return emails.flatMap((email) =>
    email.recipients.map(({ domain }) => ({ lane: domain, dueAt: email.dueAt })),
  )
}

function deliveriesOf(deps: EmailDeps, { row, recipients, dueAt }: PreparedEmail): NewDelivery[] {
  return recipients.map((recipient) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    accountId: row.account_id,
    recipient: recipient.address,
    lane: recipient.domain,
    class: row.type === 'marketing' ? queueClass.campaign : queueClass.transactional,
    dueAt,
    expiresAt: dueAt + deps.maxAgeMs,
  }))
}

function suppressedOf(deps: EmailDeps, { row, suppressed }: PreparedEmail) {
  return suppressed.map(({ address }) => ({
    id: deps.store.ids.serial(),
    emailId: row.id,
    recipient: address,
    at: row.created_at,
  }))
}
