import type { DeliveryRow, Read } from '../store/index.js'

export interface RecipientStatus {
  email: string
  status: 'queued' | 'deferred' | 'sent' | Exclude<DeliveryRow['status'], 'relayed'>
  attempts: number
  nextAttemptAt: number | null
  reply: string | null
  updatedAt: number | null
  /** It waits until the operator releases it. */
  held: { since: number; reason: string } | null
}

/** Every recipient of an email in the order given, waiting or ended. */
export async function readRecipients(read: Read, emailId: string): Promise<RecipientStatus[]> {
  const waiting = await read
    .selectFrom('queue')
    .select([
      'id',
      'recipient',
      'attempts',
      'due_at',
      'lease',
      'held_at',
      'held_reason',
      'last_reply',
      'last_attempt_at',
    ])
    .where('email_id', '=', emailId)
    .execute()
  const ended = await read
    .selectFrom('deliveries')
    .select(['id', 'recipient', 'status', 'attempts', 'reply', 'ended_at'])
    .where('email_id', '=', emailId)
    .execute()
  const all = [
    ...waiting.map((row) => ({
      id: row.id,
      email: row.recipient,
      status: row.attempts === 0 ? ('queued' as const) : ('deferred' as const),
      attempts: row.attempts,
      // A leased row's due time is the end of its lease, a held one's is never.
      nextAttemptAt: row.lease === null && row.held_at === null ? row.due_at : null,
      reply: row.last_reply,
      updatedAt: row.last_attempt_at,
      held: row.held_at === null ? null : { since: row.held_at, reason: row.held_reason ?? '' },
    })),
    ...ended.map((row) => ({
      id: row.id,
      email: row.recipient,
      status: row.status === 'relayed' ? ('sent' as const) : row.status,
      attempts: row.attempts,
      nextAttemptAt: null,
      reply: row.reply,
      updatedAt: row.ended_at,
      held: null,
    })),
  ]
  return all.sort((a, b) => a.id - b.id).map(({ id: _, ...recipient }) => recipient)
}
