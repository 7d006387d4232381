import { sql } from 'kysely'
import type { Read } from '../store/index.js'
import { listWaiting, type WaitingDelivery } from './inspect.js'

/** What an account has waiting for another attempt, or for the operator. */
export interface PutOff {
  /** Counted up to one more than was asked for. */
  deliveries: number
  /** The recipients' domains with the most of them, each with its delivery that was accepted first. */
  lanes: { lane: string; deliveries: number; first: WaitingDelivery }[]
}

/** The rows of the index `queue_put_off`, in its own words: SQLite uses a partial index only for these. */
const isPutOff = sql<boolean>`(attempts > 0 or held_at is not null)`

/**
 * Looks at `most` deliveries and one more, so that the cost depends neither on the queue nor on other accounts.
 * `broadcastId`: only those of one campaign.
 */
export async function putOffOf(
  read: Read,
  accountId: string,
  { most, lanes, broadcastId }: { most: number; lanes: number; broadcastId?: string | undefined },
): Promise<PutOff> {
  const some = read
    .selectFrom('queue')
    .select(['lane', 'id', 'email_id'])
    .where('account_id', '=', accountId)
    .where(isPutOff)
    .orderBy('lane')
    .limit(most + 1)
    .as('some')
  const rows = await read
    .selectFrom(some)
    .select(({ fn }) => [
      'lane',
      fn.countAll<number>().as('deliveries'),
      fn.min<number>('some.id').as('first'),
    ])
    .$if(broadcastId !== undefined, (query) =>
      query
        .innerJoin('emails', 'emails.id', 'some.email_id')
        .where('emails.broadcast_id', '=', broadcastId ?? ''),
    )
    .groupBy('lane')
    .execute()
  const longest = rows.sort((a, b) => b.deliveries - a.deliveries).slice(0, lanes)
  const firsts = await listWaiting(read, { ids: longest.map(({ first }) => first) }, lanes)
  return {
    deliveries: rows.reduce((sum, { deliveries }) => sum + deliveries, 0),
    lanes: longest.flatMap(({ lane, deliveries, first: id }) => {
      const first = firsts.find((delivery) => delivery.id === id)
      return first === undefined ? [] : [{ lane, deliveries, first }]
    }),
  }
}
