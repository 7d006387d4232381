import type { Tx } from '../store/index.js'

/** Ends all of an email's deliveries, none of which has been claimed, as `cancelled`: how many. */
export async function cancelDeliveries(tx: Tx, emailId: string, now: number): Promise<number> {
  const waiting = await tx
    .deleteFrom('queue')
    .where('email_id', '=', emailId)
    .returning(['id', 'recipient'])
    .execute()
  await tx
    .insertInto('deliveries')
    .values(
      waiting.map(({ id, recipient }) => ({
        id,
        email_id: emailId,
        recipient,
        status: 'cancelled' as const,
        attempts: 0,
        reply: null,
        remote: null,
        tls: null,
        transcript: null,
        ended_at: now,
      })),
    )
    .execute()
  await tx
    .updateTable('emails')
    .set({ status: 'cancelled', waiting: 0 })
    .where('id', '=', emailId)
    .execute()
  return waiting.length
}
