import type { Tx } from '../store/index.js'
import { insertEnded, unattempted } from './end.js'

/** Ends all of an email's deliveries, none of which has been claimed, as `cancelled`: how many. */
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
