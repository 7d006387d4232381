import { sql } from 'kysely'
import type { DeliveryRow, HeldBy, Read } from '../store/index.js'

export interface RecipientStatus {
  email: string
  status: 'queued' | 'deferred' | 'sent' | Exclude<DeliveryRow['status'], 'relayed'>
  attempts: number
  nextAttemptAt: number | null
  reply: string | null
  updatedAt: number | null
  /** It waits until the operator releases it. */
  held: { since: number; reason: string; by: HeldBy | null } | null
}

/**
 * Every recipient of an email in the order given, waiting or ended. It is one statement, since a delivery that ended
 * between two would be in both.
 */
export async function readRecipients(read: Read, emailId: string): Promise<RecipientStatus[]> {
  const waiting = read
    .selectFrom('queue')
    .select(['id', 'recipient', 'attempts', 'last_reply as reply', 'last_attempt_at as updatedAt'])
    .select([
      sql<DeliveryRow['status'] | null>`null`.as('status'),
      // The due time of a leased row is the end of its lease, that of a held one is never.
      sql<number | null>`case when lease is null and held_at is null then due_at end`.as('dueAt'),
      'held_at as heldAt',
      'held_reason as heldReason',
      'held_by as heldBy',
    ])
    .where('email_id', '=', emailId)
  const ended = read
    .selectFrom('deliveries')
    .select(['id', 'recipient', 'attempts', 'reply', 'ended_at as updatedAt', 'status'])
    .select([
      sql<number | null>`null`.as('dueAt'),
      sql<number | null>`null`.as('heldAt'),
      sql<string | null>`null`.as('heldReason'),
      sql<HeldBy | null>`null`.as('heldBy'),
    ])
    .where('email_id', '=', emailId)
  const rows = await waiting.unionAll(ended).orderBy('id').execute()
  return rows.map(({ recipient, status, attempts, dueAt, reply, updatedAt, ...row }) => ({
    email: recipient,
    status: statusOf(status, attempts),
    attempts,
    nextAttemptAt: dueAt,
    reply,
    updatedAt,
    held:
      row.heldAt === null
        ? null
        : { since: row.heldAt, reason: row.heldReason ?? '', by: row.heldBy },
  }))
}

/** `ended`: null while it waits. */
function statusOf(ended: DeliveryRow['status'] | null, attempts: number) {
  if (ended === null) return attempts === 0 ? 'queued' : 'deferred'
  return ended === 'relayed' ? 'sent' : ended
}
