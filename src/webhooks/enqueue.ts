import type { UpdateResult } from 'kysely'
import { type Plans, readBilling } from '../billing/index.js'
import type { Effect, MailEvent } from '../events/index.js'
import { prepared, preparedInsert, type Tx } from '../store/index.js'
import type { EndpointRow } from './endpoint.js'
import type { WebhookEvent } from './event-names.js'
import { payloadOf, webhookOf } from './payload.js'

/**
 * A job for each endpoint and event, in the transaction of the event; the courier sets aside the jobs of a disabled
 * one. An account without endpoints costs one look into an index; one whose plan lost the feature, two.
 */
export function makeWebhookJobs(plans: Plans): Effect {
  return async (tx, events) => {
    const byAccount = new Map<string, Told[]>()
    for (const event of events) {
      const webhook = webhookOf[event.type]
      // A filter that looks into the mail is not a reader.
      if (webhook === undefined || event.detail?.machine) continue
      const told = byAccount.get(event.accountId) ?? []
      told.push({ event, webhook })
      byAccount.set(event.accountId, told)
    }
    for (const [accountId, told] of byAccount) {
      const endpoints = await endpointsOf(tx, { accountId })
      if (endpoints.length === 0) continue
      if (!(await readBilling(tx, plans, accountId)).plan.webhooks) continue
      for (const one of told) await enqueue(tx, one, endpoints)
    }
  }
}

/** An event, and its name in webhooks. */
interface Told {
  event: MailEvent
  webhook: WebhookEvent
}

/** An endpoint with its events, still as JSON. */
type Listening = Pick<EndpointRow, 'id' | 'events' | 'enabled' | 'aside_bytes'>

/**
 * How much is kept for an endpoint while it is disabled, in bytes: events of about a hundred thousand mails. An
 * endpoint that nobody enables again must not fill the disk within the plan's days.
 */
export const mostAsideBytes = 64 * 1_024 * 1_024

/** A job for each endpoint that wants the event; none for a mail that is gone. */
async function enqueue(
  tx: Tx,
  { event, webhook }: Told,
  endpoints: readonly Listening[],
): Promise<void> {
  // The list is JSON, so a search for the name in quotes finds it without parsing the list at each event.
  const wanting = endpoints.filter(({ events }) => events.includes(`"${webhook}"`))
  const body = wanting.length === 0 ? undefined : await payloadOf(tx, event, webhook)
  if (body === undefined) return
  for (const endpoint of wanting) {
    if (!(await hasRoom(tx, endpoint))) continue
    await insertJob(tx, {
      endpoint_id: endpoint.id,
      account_id: event.accountId,
      email_id: event.emailId,
      event: webhook,
      body,
      attempts: 0,
      due_at: event.at,
      created_at: event.at,
    })
  }
}

/**
 * A job that tells one endpoint of the account something that is not an event of a mail; `subjectId` is what it is
 * about. Resolves with whether the endpoint exists, and has room if it is disabled.
 */
export async function enqueueWebhook(
  tx: Tx,
  told: {
    accountId: string
    endpointId: string
    subjectId: string
    event: string
    body: string
    now: number
  },
): Promise<boolean> {
  const { accountId, endpointId, subjectId, event, body, now } = told
  const endpoint = (await endpointsOf(tx, { accountId })).find(
    ({ id }) => id === endpointId.toLowerCase(),
  )
  if (endpoint === undefined || !(await hasRoom(tx, endpoint))) return false
  await insertJob(tx, {
    // The id in the endpoint's spelling: a step may write it in capitals, and the courier searches for this one.
    endpoint_id: endpoint.id,
    account_id: accountId,
    email_id: subjectId,
    event,
    body,
    attempts: 0,
    due_at: now,
    created_at: now,
  })
  return true
}

/**
 * Tells a mail that came in to the account's endpoints that want it; resolves with how many there are. `body` is
 * called only where there is one.
 */
export async function enqueueReceived(
  tx: Tx,
  plans: Plans,
  told: { accountId: string; receivedId: string; body: () => string; now: number },
): Promise<number> {
  const { accountId, receivedId, now } = told
  const endpoints = await endpointsOf(tx, { accountId })
  const wanting = endpoints.filter(({ events }) => events.includes('"email.received"'))
  if (wanting.length === 0) return 0
  if (!(await readBilling(tx, plans, accountId)).plan.webhooks) return 0
  const body = told.body()
  for (const endpoint of wanting) {
    if (!(await hasRoom(tx, endpoint))) continue
    await insertJob(tx, {
      endpoint_id: endpoint.id,
      account_id: accountId,
      email_id: receivedId,
      event: 'email.received',
      body,
      attempts: 0,
      due_at: now,
      created_at: now,
    })
  }
  return wanting.length
}

/** Queues a job; the courier finds it by its id, which grows. */
export const insertJob = preparedInsert('webhook_jobs')

/**
 * Whether an event is kept for the endpoint: while it is disabled the courier sets events aside, as long as there is
 * room. Events without room are counted, and the first one is told (`announceDisabled`).
 */
async function hasRoom(tx: Tx, { id, enabled, aside_bytes }: Listening): Promise<boolean> {
  if (enabled === 1 || aside_bytes < mostAsideBytes) return true
  await countNotKept(tx, { id })
  return false
}

const countNotKept = prepared<{ id: string }, UpdateResult>((db, { id }) =>
  db
    .updateTable('webhook_endpoints')
    .set(({ eb, ref }) => ({
      events_not_kept: eb('events_not_kept', '+', 1),
      announced: eb.case().when('events_not_kept', '=', 0).then(0).else(ref('announced')).end(),
    }))
    .where('id', '=', id),
)

/** The endpoints of an account, also those to which nothing is sent now. */
const endpointsOf = prepared<{ accountId: string }, Listening>((db, { accountId }) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'enabled', 'aside_bytes'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .orderBy('id'),
)
