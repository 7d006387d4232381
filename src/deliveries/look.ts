import type { SelectQueryBuilder } from 'kysely'
import { firstSerialAt, ofAnyNode, type Read, type Tables } from '../store/index.js'
import { fitting, type QueueFilter } from './select.js'

/** For pages: so many deliveries are looked at for one answer, however many wait. */
export const mostLookedAt = 10_000

export interface LookedThrough {
  /** The ids of those that fit, in rising order: the longest waiting first. */
  ids: number[]
  /** Where to look on, as `after`. Null: nothing is left, or the deliveries were not looked at in order. */
  next: number | null
  /** More may fit than were looked at. */
  isCut: boolean
}

/**
 * Which waiting deliveries fit; it looks at no more than `most`. By an index where the filter has one (a domain, a
 * mail, what is held); otherwise through the queue from `after` on, in the order of acceptance.
 */
export async function lookForWaiting(
  read: Read,
  filter: QueueFilter,
  { after = -1, most = mostLookedAt }: { after?: number; most?: number } = {},
): Promise<LookedThrough> {
  if (filter.ids !== undefined || filter.emailId !== undefined) {
    const found = await idsThatFit(read.selectFrom('queue').select('queue.id'), filter)
    return { ids: found.filter((id) => id > after), next: null, isCut: false }
  }
  if (filter.lane !== undefined || filter.held === true) {
    return await lookByIndex(read, filter, { after, most })
  }
  const before = filter.acceptedBefore
  const last = await read
    .selectFrom('queue')
    .select('id')
    .where('id', '>', after)
    .$if(before !== undefined, (query) => query.where('id', '<', firstSerialAt(before ?? 0)))
    .orderBy('id')
    .offset(most - 1)
    .limit(1)
    .executeTakeFirst()
  const window = read
    .selectFrom('queue')
    .select('queue.id')
    .where('queue.id', '>', after)
    .$if(last !== undefined, (query) => query.where('queue.id', '<=', last?.id ?? 0))
  const ids = await idsThatFit(window, filter)
  return { ids, next: last?.id ?? null, isCut: last !== undefined }
}

/** Reads the first `most` deliveries of a domain, or held ones, by an index; the rest of the filter comes after. */
async function lookByIndex(
  read: Read,
  filter: QueueFilter,
  { after, most }: { after: number; most: number },
): Promise<LookedThrough> {
  const { lane, held, heldBy, notHeldBy, broadcastId, class: of } = filter
  // Held ones come first: a large domain has more rows than are held in all domains.
  const first = read
    .selectFrom('queue')
    .$if(held === true, (query) => query.where('held_at', 'is not', null))
    .$if(held !== true, (query) =>
      query
        .where(ofAnyNode)
        .where('lane', '=', lane ?? '')
        .$if(of !== undefined, (some) => some.where('class', '=', of ?? 0)),
    )
    .limit(most + 1)
  // Columns that the index lacks are read only where the filter asks for them.
  const window = first
    .select(['id', 'account_id', 'lane', 'class', 'node'])
    .$if(
      [held, heldBy, notHeldBy].some((one) => one !== undefined),
      (q) => q.select(['held_at', 'held_by']),
    )
    .$if(broadcastId !== undefined, (query) => query.select('email_id'))
  const { looked } = await read
    .selectFrom(first.select('id').as('some'))
    .select(({ fn }) => fn.countAll<number>().as('looked'))
    .executeTakeFirstOrThrow()
  // It stands in for the table, whose name `fitting` uses. With its limit it is read first.
  const table = read.selectFrom(window.as('queue')).select('queue.id') as unknown as Ids
  const ids = await idsThatFit(table, filter)
  return {
    ids: ids.slice(0, most).filter((id) => id > after),
    next: null,
    isCut: looked > most,
  }
}

type Ids = SelectQueryBuilder<Tables, 'queue', { id: number }>

async function idsThatFit(query: Ids, filter: QueueFilter): Promise<number[]> {
  const rows = await fitting(query, filter).execute()
  return rows.map(({ id }) => id).sort((a, b) => a - b)
}
