import { ApiError } from '../errors/index.js'
import { idsIn, type Read, type Store, type Tx, type WebhookDeliveryRow } from '../store/index.js'
import { endpointRow } from './endpoint.js'
import { insertJob } from './enqueue.js'

/** What went to an endpoint, or is still to go there. */
export interface WebhookDelivery {
  id: number
  event: string
  emailId: string
  outcome: WebhookDeliveryRow['outcome'] | 'waiting'
  attempts: number
  /** Of the last answer, with the beginning of its body. */
  status: number | null
  response: string | null
  error: string | null
  createdAt: number
  /** When it ended; of what waits, when it is tried next. */
  at: number
  body: string
}

/** The last delivery of the page before. */
export type LastDelivery = Pick<WebhookDelivery, 'id' | 'outcome'>

/**
 * What waits for an endpoint and then what went there, the newest first of each. What ends between two
 * pages may be on both, and is missing on none.
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
    .$if(failed, (query) => query.where('attempts', '>', 0))
    .$if(waitingFrom !== undefined, (query) => query.where('id', '<', waitingFrom ?? 0))
    .orderBy('id', 'desc')
    .limit(isWaiting ? limit : 0)
    .execute()
  const ended = await read
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('endpoint_id', '=', id)
    .$if(failed, (query) => query.where('outcome', '<>', 'delivered'))
    .$if(endedFrom !== undefined, (query) => query.where('id', '<', endedFrom ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const shown = ({
    id,
    event,
    email_id,
    attempts,
    created_at,
    body,
  }: (typeof waiting)[number]) => ({
    ...{ id, event, emailId: email_id, attempts, createdAt: created_at, body },
  })
  return [
    ...waiting.map((row) => ({
      ...shown(row),
      ...{ outcome: 'waiting' as const, status: null, response: null, error: null, at: row.due_at },
    })),
    ...ended.map((row) => {
      const { outcome, status, response, error, ended_at: at } = row
      return { ...shown({ ...row, due_at: at }), outcome, status, response, error, at }
    }),
  ].slice(0, limit)
}

/** At most so many at once; a transaction each. */
const replayAtOnce = 200

/**
 * Queues again what went to an endpoint: the same bytes, their timestamp included. Either one, or
 * all that did not arrive; what still waits is not among them. Returns how many. Throws a 404, and a 409 for an endpoint that is disabled.
 * `alongside` is written with the last of them: whoever is told how many has all of them queued.
 */
export async function replay(
  { store, now }: { store: Store; now: () => number },
  accountId: string,
  endpointId: string,
  which: number | 'failed',
  alongside: (tx: Tx, queued: number) => Promise<void> = async () => {},
): Promise<number> {
  const endpoint = await endpointRow(store.read, accountId, endpointId)
  if (endpoint.enabled === 0) {
    throw new ApiError('conflict', 'It is disabled, so nothing is sent there')
  }
  const newest = await store.read
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', endpoint.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  let queued = 0
  for (let after = 0; ; ) {
    const before = queued
    const rows = await store.write(async (tx) => {
      const found = await tx
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('endpoint_id', '=', endpoint.id)
        .where('id', '>', after)
        // What was queued here and comes back meanwhile, as the endpoint is disabled again, has a newer id:
        // it would be queued, and counted, without an end.
        .where('id', '<=', newest?.id ?? 0)
        .$if(which === 'failed', (query) => query.where('outcome', '<>', 'delivered'))
        .$if(which !== 'failed', (query) => query.where('id', '=', Number(which)))
        .orderBy('id')
        .limit(replayAtOnce)
        .execute()
      if (found.length === 0 && which !== 'failed') {
        throw new ApiError('not_found', `No delivery ${which} of this webhook`)
      }
      for (const { endpoint_id, account_id, email_id, event, body } of found) {
        const job = { endpoint_id, account_id, email_id, event, body }
        await insertJob(tx, { ...job, attempts: 0, due_at: now(), created_at: now() })
      }
      if (which === 'failed' && found.length > 0) {
        // Replayed once: what fails again is in the log again, under a number of its own.
        await tx
          .deleteFrom('webhook_deliveries')
          .where('id', 'in', idsIn(found.map(({ id }) => id)))
          .execute()
      }
      if (found.length < replayAtOnce) await alongside(tx, before + found.length)
      return found
    })
    queued += rows.length
    after = rows.at(-1)?.id ?? after
    if (rows.length < replayAtOnce) return queued
  }
}
