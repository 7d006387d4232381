import { type DeliveryRow, preparedInsert, type Tx } from '../store/index.js'

const insertRow = preparedInsert('deliveries')

/** Writes ended deliveries to the log. */
export async function insertEnded(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
  for (const row of rows) await insertRow(tx, row)
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
