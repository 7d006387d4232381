import type { DeleteResult, InsertResult } from 'kysely'
import { idsIn, idsOf, prepared, type Read, type Tx } from '../store/index.js'
import type { EndedDelivery, WaitingDelivery } from './inspect.js'

/** A receiver that puts mail off for days is not quoted without end: an attempt's conversation has up to 8 KiB. */
const mostKept = 30

/** Keeps what was said in an attempt that ended at `at` and that another one follows. */
export async function keepTranscript(
  tx: Tx,
  { attempts, id, at, transcript }: Said & { attempts: number },
): Promise<void> {
  if (transcript === '' || attempts > mostKept) return
  await insertTranscript(tx, { id, at, transcript })
}

/** What was said in one attempt of the delivery `id`. */
interface Said {
  id: number
  at: number
  transcript: string
}

/** An attempt of a delivery that was put off: when its result was written, which is also the time of its event. */
export interface PastAttempt {
  deliveryId: number
  at: number
  transcript: string
}

/** What was said in the attempts of these deliveries that were put off, in the order of time. */
export async function readTranscripts(
  read: Read,
  deliveryIds: readonly number[],
  limit: number,
): Promise<PastAttempt[]> {
  return await read
    .selectFrom('deferred_transcripts')
    .select(['delivery_id as deliveryId', 'at', 'transcript'])
    .where('delivery_id', 'in', idsIn(deliveryIds, 'integer'))
    .orderBy('delivery_id')
    .orderBy('at')
    .limit(limit)
    .execute()
}

/** What was said in every attempt of a delivery, as far as it is kept, with when the attempt ended. */
export async function conversationOf(
  read: Read,
  delivery: EndedDelivery | WaitingDelivery,
): Promise<{ at: number | null; transcript: string }[]> {
  const past = await readTranscripts(read, [delivery.id], mostKept)
  const { at, transcript } = lastSaid(delivery)
  // The last attempt that was put off stands with the delivery too, until another attempt comes or the operator gives
  // the mail up.
  if (!transcript || past.at(-1)?.transcript === transcript) return past
  return [...past, { at, transcript }]
}

/** What was said in the last attempt of a delivery; empty or null where no server was talked to. */
export const lastSaid = (delivery: EndedDelivery | WaitingDelivery) =>
  'transcript' in delivery
    ? { at: delivery.endedAt, transcript: delivery.transcript }
    : { at: delivery.lastAttemptAt, transcript: delivery.lastTranscript }

/** `ids`: those of the deliveries, as JSON. */
export const forgetDeferred = prepared<{ ids: string }, DeleteResult>((db, { ids }) =>
  db.deleteFrom('deferred_transcripts').where('delivery_id', 'in', idsOf(ids, 'integer')),
)

const insertTranscript = prepared<Said, InsertResult>((db, { id, at, transcript }) =>
  db
    .insertInto('deferred_transcripts')
    .values({ delivery_id: id, at, transcript })
    // Two attempts in the same millisecond mean that the clock was set back.
    .onConflict((conflict) => conflict.columns(['delivery_id', 'at']).doUpdateSet({ transcript })),
)
