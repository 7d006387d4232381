import { sql } from 'kysely'
import type { LandEvents } from '../events/index.js'
import {
  type DeliveryRow,
  type EmailStatus,
  idsIn,
  preparedInsertAll,
  type Tx,
} from '../store/index.js'
import { type Changes, countChanges } from './hold.js'
import { isInFlight } from './lease.js'

/** Writes ended deliveries to the log. */
export const insertEnded = preparedInsertAll('deliveries')

/** A delivery that ended without any attempt. */
function unattempted(
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

/** Ends all of an email's deliveries, none of which has been claimed, as `cancelled`; answers how many. */
export async function cancelDeliveries(tx: Tx, emailId: string, now: number): Promise<number> {
  const waiting = await tx
    .deleteFrom('queue')
    .where('email_id', '=', emailId)
    .returning(['id', 'recipient'])
    .execute()
  await insertEnded(
    tx,
    waiting.map(({ id, recipient }) =>
      unattempted({ id, emailId, recipient, at: now }, 'cancelled'),
    ),
  )
  await tx
    .updateTable('emails')
    .set({ status: 'cancelled', waiting: 0 })
    .where('id', '=', emailId)
    .execute()
  return waiting.length
}

/**
 * Ends waiting deliveries as `cancelled`, held ones too. Their mails are cancelled where nothing else has become of
 * them. A delivery whose attempt is under way is left alone: it may be delivered at this moment.
 */
export async function cancelWaiting(tx: Tx, ids: readonly number[], now: number): Promise<Changes> {
  const ended = await tx
    .deleteFrom('queue')
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(({ not }) => not(isInFlight(now)))
    .returning(['id', 'email_id as emailId', 'recipient', 'attempts', 'last_reply'])
    .returning('last_transcript')
    .execute()
  await insertEnded(
    tx,
    ended.map(({ attempts, last_reply, last_transcript, ...delivery }) => ({
      ...unattempted({ ...delivery, at: now }, 'cancelled'),
      attempts,
      reply: last_reply,
      transcript: last_transcript,
    })),
  )
  const counts = new Map<string, number>()
  for (const { emailId } of ended) counts.set(emailId, (counts.get(emailId) ?? 0) + 1)
  // Nearly all mails have one recipient, and so share a statement.
  for (const count of new Set(counts.values())) {
    const alike = [...counts].flatMap(([id, of]) => (of === count ? [id] : []))
    await tx
      .updateTable('emails')
      .set({ waiting: sql`waiting - ${count}`, status: cancelledStatus(count) })
      .where('id', 'in', idsIn(alike, 'text'))
      .execute()
  }
  return await countChanges(tx, ids, ended.length, now)
}

/** The status of a mail when so many of its waiting deliveries end; where others got it, as `settle` has it. */
const cancelledStatus = (count: number) => sql<EmailStatus>`case
  when status in ('cancelled', 'suppressed') or waiting > ${count} then status
  when bounced > 0 then 'bounced'
  when failed > 0 then 'failed'
  when relayed > 0 then 'sent'
  when delivered > 0 then 'delivered'
  else 'cancelled' end`

/**
 * Ends deliveries as `failed` by the operator's word, held ones too. A delivery whose attempt is under way is left
 * alone: it may be delivered at this moment, and then it did not fail.
 */
export async function giveUp(
  tx: Tx,
  ids: readonly number[],
  { reason, now, land }: { reason: string; now: number; land: LandEvents },
): Promise<Changes> {
  const ended = await fail(tx, ids, { why: `Given up by the operator: ${reason}`, now, land })
  return countChanges(tx, ids, ended, now)
}

/** Ends as `failed` those that are not in flight; answers how many. */
export async function fail(
  tx: Tx,
  ids: readonly number[],
  { why, now, land }: { why: string; now: number; land: LandEvents },
): Promise<number> {
  const ended = await tx
    .deleteFrom('queue')
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(({ not }) => not(isInFlight(now)))
    .returning(['id', 'email_id', 'account_id', 'class', 'recipient', 'attempts'])
    .returning(['last_reply', 'last_transcript'])
    .execute()
  const failed = new Map<string, number>()
  for (const row of ended) failed.set(row.email_id, (failed.get(row.email_id) ?? 0) + 1)
  await insertEnded(
    tx,
    ended.map(
      (row): DeliveryRow => ({
        id: row.id,
        email_id: row.email_id,
        recipient: row.recipient,
        status: 'failed',
        attempts: row.attempts,
        reply: replyOf(why, row.last_reply),
        remote: null,
        tls: null,
        transcript: row.last_transcript,
        ended_at: now,
      }),
    ),
  )
  for (const [emailId, count] of failed) await updateEmail(tx, emailId, count)
  await land(
    tx,
    ended.map((row) => ({
      accountId: row.account_id,
      emailId: row.email_id,
      deliveryId: row.id,
      recipient: row.recipient,
      class: row.class,
      type: 'failed',
      at: now,
      reply: replyOf(why, row.last_reply),
      detail: null,
    })),
  )
  return ended.length
}

function replyOf(why: string, lastReply: string | null): string {
  const last = lastReply === null ? '' : `. The last reply: ${lastReply}`
  return `${why}${last}`
}

/** Does what `settle` does after an attempt, but leaves `sent_at` alone, as the mail may never have been tried. */
async function updateEmail(tx: Tx, emailId: string, count: number): Promise<void> {
  await tx
    .updateTable('emails')
    .set({
      waiting: sql`waiting - ${count}`,
      failed: sql`failed + ${count}`,
      status: sql`case
        when status in ('cancelled', 'suppressed') or waiting > ${count} then status
        when bounced > 0 then 'bounced'
        else 'failed' end`,
    })
    .where('id', '=', emailId)
    .execute()
}
