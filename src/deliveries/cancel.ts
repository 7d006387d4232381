import { idsIn, type Tx } from '../store/index.js'
import { insertEnded, unattempted } from './end.js'
import { isInFlight } from './held.js'
import { type Changes, counted } from './hold.js'

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

/**
 * Ends waiting deliveries, each the only one of its mail, as `cancelled`, held ones too. One whose
 * attempt is under way is left alone: it may be delivered at this moment.
 */
export async function cancelWaiting(tx: Tx, ids: readonly number[], now: number): Promise<Changes> {
  const ended = await tx
    .deleteFrom('queue')
    .where('id', 'in', idsIn(ids))
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
  await tx
    .updateTable('emails')
    .set({ status: 'cancelled', waiting: 0 })
    .where('id', 'in', idsIn(ended.map(({ emailId }) => emailId)))
    .execute()
  return await counted(tx, ids, ended.length, now)
}
