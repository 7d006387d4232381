import type { QueueClass, QueueRow, Tx } from '../store/index.js'

export interface NewDelivery {
  id: number
  emailId: string
  accountId: string
  recipient: string
  /** The recipient's domain, A-label, lower case. */
  lane: string
  class: QueueClass
  dueAt: number
  expiresAt: number
}

// Few enough parameters for SQLite and PostgreSQL, and few different statements to keep.
const rowsPerInsert = 50

/** Puts deliveries into the queue; the caller writes the email in the same transaction. */
export async function enqueue(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  for (let start = 0; start < deliveries.length; start += rowsPerInsert) {
    const rows = deliveries.slice(start, start + rowsPerInsert).map(toRow)
    await tx.insertInto('queue').values(rows).execute()
  }
}

function toRow(delivery: NewDelivery): QueueRow {
  return {
    id: delivery.id,
    email_id: delivery.emailId,
    account_id: delivery.accountId,
    recipient: delivery.recipient,
    lane: delivery.lane,
    class: delivery.class,
    due_at: delivery.dueAt,
    lease: null,
    attempts: 0,
    expires_at: delivery.expiresAt,
    last_attempt_at: null,
    last_reply: null,
    last_transcript: null,
  }
}
