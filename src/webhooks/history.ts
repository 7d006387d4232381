import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import {
  idsIn,
  type Read,
  type Store,
  type Tx,
  type WebhookDeliveryRow,
  type WebhookJobRow,
} from '../store/index.js'
import { endpointRow } from './endpoint.js'
import { insertJob } from './enqueue.js'
import { asideBytes, countAside } from './settle.js'

/** What went to an endpoint, or is still to go there. */
export interface WebhookDelivery {
  id: number
  event: string
  emailId: string
  outcome: WebhookDeliveryRow['outcome'] | 'waiting'
  attempts: number
  /** The HTTP status of the last answer; `response` is the beginning of its body. */
  status: number | null
  response: string | null
  error: string | null
  cause: WebhookDeliveryRow['cause']
  createdAt: number
  /** When it ended; for a waiting one, when it is tried next. */
  at: number
  /** When the last attempt was made, or it was set aside; null before the first. */
  triedAt: number | null
  body: string
}

/** The last delivery of the page before. */
export type LastDelivery = Pick<WebhookDelivery, 'id' | 'outcome'>

/**
 * What waits for an endpoint and then what went there, the newest first of each. A delivery that ends between two
 * pages may be on both, but is never left out.
 */
export async function readDeliveries(
  read: Read,
  accountId: string,
  endpointId: string,
  { failed, limit, after }: { failed: boolean; limit: number; after?: LastDelivery | undefined },
): Promise<WebhookDelivery[]> {
  const { id } = await endpointRow(read, accountId, endpointId)
  const isWaiting = after === undefined || after.outcome === 'waiting'
  const from = (wanted: boolean) => (after !== undefined && wanted ? after.id : undefined)
  const waitingFrom = from(isWaiting)
  const endedFrom = from(!isWaiting)
  const waiting = await read
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('endpoint_id', '=', id)
    .$if(failed, (query) => query.where(wasTried))
    .$if(waitingFrom !== undefined, (query) => query.where('id', '<', waitingFrom ?? 0))
    .orderBy('id', 'desc')
    .limit(isWaiting ? limit : 0)
    .execute()
  const ended = await read
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('endpoint_id', '=', id)
    .$if(failed, (query) => query.where(didNotArrive))
    .$if(endedFrom !== undefined, (query) => query.where('id', '<', endedFrom ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return [...waiting.map(toWaiting), ...ended.map(toEnded)].slice(0, limit)
}

/** One delivery by its number. Throws a 404. */
export async function findDelivery(
  read: Read,
  accountId: string,
  endpointId: string,
  id: number,
): Promise<WebhookDelivery> {
  const endpoint = await endpointRow(read, accountId, endpointId)
  const ended = await read
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('endpoint_id', '=', endpoint.id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (ended !== undefined) return toEnded(ended)
  const waiting = await read
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('endpoint_id', '=', endpoint.id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (waiting === undefined) throw noDelivery(id)
  return toWaiting(waiting)
}

// Literals, or SQLite does not see that its small index has all of them.
const wasTried = sql<boolean>`attempts > 0`
const didNotArrive = sql<boolean>`outcome <> 'delivered'`

const noDelivery = (id: number) => new ApiError('not_found', `The webhook has no delivery ${id}`)

const toWaiting = (row: Row<WebhookJobRow>): WebhookDelivery => ({
  ...common(row),
  outcome: 'waiting',
  status: row.status,
  response: row.response,
  error: row.error,
  cause: row.cause,
  at: row.due_at,
  triedAt: row.tried_at,
})

function toEnded(row: WebhookDeliveryRow): WebhookDelivery {
  const { outcome, status, response, error, cause, ended_at: at } = row
  return { ...common(row), outcome, status, response, error, cause, at, triedAt: at }
}

const common = (
  row: Pick<Row<WebhookJobRow>, 'id' | 'event' | 'email_id' | 'attempts' | 'created_at' | 'body'>,
) => {
  const { id, event, email_id: emailId, attempts, created_at: createdAt, body } = row
  return { id, event, emailId, attempts, createdAt, body }
}

type Row<T> = Omit<T, 'id'> & { id: number }

/** Events for one endpoint that were set aside for one reason, and that only a replay sends. */
export interface SetAsideEvents {
  endpointId: string
  accountId: string
  url: string
  enabled: boolean
  reason: string
  cause: WebhookDeliveryRow['cause']
  events: number
  oldestAt: number
}

/**
 * What is set aside for endpoints that still exist, of all accounts or of one. It counts endpoint by endpoint and
 * reason by reason, each a range of an index, with turns for others in between. There may be a million.
 */
export async function countSetAside(read: Read, accountId?: string): Promise<SetAsideEvents[]> {
  const found: SetAsideEvents[] = []
  for (let last = ''; ; ) {
    const { id } = await asideOf(read)
      .select(({ fn }) => fn.min<string | null>('endpoint_id').as('id'))
      .where('endpoint_id', '>', last)
      .executeTakeFirstOrThrow()
    if (id === null) return found
    last = id
    const endpoint = await read
      .selectFrom('webhook_endpoints')
      .select(['id as endpointId', 'account_id as accountId', 'url', 'enabled'])
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (endpoint === undefined) continue
    if (accountId !== undefined && endpoint.accountId !== accountId) continue
    for await (const counted of reasonsOf(read, id)) {
      found.push({ ...endpoint, enabled: endpoint.enabled === 1, ...counted })
    }
  }
}

/** Why events of the endpoint are set aside, with how many; those without a reason first, as the index has them. */
async function* reasonsOf(read: Read, endpointId: string) {
  for (let error: string | null = null; ; ) {
    const { events, oldestAt, cause } = await asideOf(read)
      .select(({ fn }) => [
        fn.countAll<number>().as('events'),
        fn.min<number | null>('created_at').as('oldestAt'),
        fn.min<WebhookDeliveryRow['cause']>('cause').as('cause'),
      ])
      .where('endpoint_id', '=', endpointId)
      .where((eb) => (error === null ? eb('error', 'is', null) : eb('error', '=', error)))
      .executeTakeFirstOrThrow()
    await nextTurn()
    if (oldestAt !== null) yield { reason: error ?? '', cause, events, oldestAt }
    const next: { error: string | null } = await asideOf(read)
      .select(({ fn }) => fn.min<string | null>('error').as('error'))
      .where('endpoint_id', '=', endpointId)
      .$if(error !== null, (query) => query.where('error', '>', error))
      .executeTakeFirstOrThrow()
    if (next.error === null) return
    error = next.error
  }
}

/** Those set aside. A literal, or SQLite does not see that its small index has all of them. */
const asideOf = (read: Read) =>
  read.selectFrom('webhook_deliveries').where('outcome', '=', sql.lit('dropped'))

/** At most so many at once, in one transaction. */
const replayAtOnce = 200

/** The deliveries with these numbers and those between them. */
export interface DeliveryRange {
  from: number
  to: number
  /** Leaves out deliveries that did arrive. */
  failedOnly?: boolean | undefined
}

/**
 * Queues again what went to an endpoint: the same bytes, including their timestamp. Either one delivery, a range, or
 * all that did not arrive, without those that still wait. Returns how many. Throws a 404, and a 409 for an endpoint
 * that is disabled. `alongside` is written with the last of them, so that the count is told only when all are queued.
 */
export async function replay(
  { store, now }: { store: Store; now: () => number },
  accountId: string,
  endpointId: string,
  which: number | 'failed' | DeliveryRange,
  alongside: (tx: Tx, queued: number) => Promise<void> = async () => {},
): Promise<number> {
  const endpoint = await endpointRow(store.read, accountId, endpointId)
  if (endpoint.enabled === 0) {
    throw new ApiError('conflict', 'The webhook endpoint is disabled, so nothing is sent to it')
  }
  const newest = await store.read
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', endpoint.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const { from, to, failedOnly = false } = rangeOf(which, newest?.id ?? 0)
  let queued = 0
  for (let after = from - 1; ; ) {
    const before = queued
    const rows = await store.write(async (tx) => {
      const found = await tx
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('endpoint_id', '=', endpoint.id)
        .where('id', '>', after)
        // When the endpoint is disabled again meanwhile, jobs that were queued here come back with newer ids: without
        // this they would be queued, and counted, without end.
        .where('id', '<=', to)
        .$if(failedOnly, (query) => query.where(didNotArrive))
        .orderBy('id')
        .limit(replayAtOnce)
        .execute()
      if (found.length === 0 && typeof which === 'number') throw noDelivery(which)
      for (const { endpoint_id, account_id, email_id, event, body } of found) {
        const job = { endpoint_id, account_id, email_id, event, body }
        await insertJob(tx, { ...job, attempts: 0, due_at: now(), created_at: now() })
      }
      if (failedOnly && found.length > 0) {
        // Each is replayed once: one that fails again is in the log again, under a new number.
        await tx
          .deleteFrom('webhook_deliveries')
          .where(
            'id',
            'in',
            idsIn(
              found.map(({ id }) => id),
              'integer',
            ),
          )
          .execute()
        await countAside(tx, endpoint.id, -asideBytes(found))
      }
      if (found.length < replayAtOnce) await alongside(tx, before + found.length)
      return found
    })
    queued += rows.length
    after = rows.at(-1)?.id ?? after
    if (rows.length < replayAtOnce) return queued
  }
}

// Counting further would read an index of a million rows for one sentence.
const mostNotArrived = 10_000

/** How many kept events did not arrive, which a replay would send; at most 10,000 are counted. */
export async function countNotArrived(read: Read, endpointId: string): Promise<number> {
  const { count } = await read
    .selectFrom((from) =>
      from
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('endpoint_id', '=', endpointId)
        .where(didNotArrive)
        .limit(mostNotArrived)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The range that is meant, with nothing newer than what is there now. */
function rangeOf(which: number | 'failed' | DeliveryRange, newest: number): DeliveryRange {
  if (typeof which === 'number') return { from: which, to: which, failedOnly: false }
  if (which === 'failed') return { from: 1, to: newest, failedOnly: true }
  return { ...which, to: Math.min(which.to, newest) }
}

/** How many requests wait for an endpoint, and how many are in its log; at most `most` of each are counted. */
export async function countRequests(
  read: Read,
  endpointId: string,
  most = Number.MAX_SAFE_INTEGER,
): Promise<{ waiting: number; kept: number }> {
  const countIn = async (table: 'webhook_jobs' | 'webhook_deliveries') => {
    const { count } = await read
      .selectFrom((from) =>
        from
          .selectFrom(table)
          .select('id')
          .where('endpoint_id', '=', endpointId)
          .limit(most)
          .as('some'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  }
  return { waiting: await countIn('webhook_jobs'), kept: await countIn('webhook_deliveries') }
}
