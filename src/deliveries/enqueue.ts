import type { Insertable } from 'kysely'
import { preparedInsert, type QueueClass, type QueueRow, type Tx } from '../store/index.js'

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

const insertRow = preparedInsert('queue')

/** Puts deliveries into the queue; the caller writes the email in the same transaction. */
export async function enqueue(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  for (const delivery of deliveries) await insertRow(tx, toRow(delivery))
}

function toRow(delivery: NewDelivery): Insertable<QueueRow> {
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
