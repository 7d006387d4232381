import type { DeliveryRow, Tx } from '../store/index.js'

// Few enough parameters for SQLite and PostgreSQL, and few different statements to keep.
const rowsPerInsert = 50

/** Writes ended deliveries to the log. */
export async function insertEnded(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    const some = rows.slice(start, start + rowsPerInsert)
    await tx.insertInto('deliveries').values(some).execute()
  }
}

/** A delivery that ended without any attempt. */
export function unattempted(
  delivery: { id: number; emailId: string; recipient: string; at: number },
  status: 'cancelled' | 'suppressed',
): DeliveryRow {
  return {
    id: delivery.id,
    email_id: delivery.emailId,
    recipient: delivery.recipient,
    status,
    attempts: 0,
    reply: null,
    remote: null,
    tls: null,
    transcript: null,
    ended_at: delivery.at,
  }
}

/** Recipients who were on the suppression list when their mail was accepted. */
export async function recordSuppressed(
  tx: Tx,
  recipients: readonly { id: number; emailId: string; recipient: string; at: number }[],
): Promise<void> {
  await insertEnded(
    tx,
    recipients.map((recipient) => unattempted(recipient, 'suppressed')),
  )
}
