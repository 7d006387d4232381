import { boolean, enums, optional, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import type { Plans } from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import type { Resolver } from '../dns/index.js'
import {
  atLeastOne,
  described,
  listOf,
  QueryFlag,
  QueryInteger,
  rule,
  Uuid,
} from '../fields/index.js'
import { type Api, makeRateLimiter, type Remember, refuseExcess, reply } from '../http/index.js'
import {
  pageOf,
  type Read,
  storedJson,
  type Tx,
  textCursorOf,
  textInCursor,
} from '../store/index.js'
import {
  addEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  findEndpoint,
  listEndpoints,
  refuseEndpoint,
  rotateSecret,
  updateEndpoint,
  type WebhookEndpoint,
} from './endpoint.js'
import { type WebhookEvent, webhookEvents } from './event-names.js'
import {
  countNotArrived,
  type LastDelivery,
  readDeliveries,
  replay,
  type WebhookDelivery,
} from './history.js'
import { judgeTarget } from './target.js'
import { tryEndpoint } from './trial.js'

/** What the routes need beside the endpoints. */
export interface WebhookRouteDeps extends EndpointDeps {
  plans: Plans
  /** A new one for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
  /** `webhooks.allow`. */
  allow: readonly string[]
}

// Trials an account may make: each opens connections to an address of the client's choice, so it
// must not be a way to scan others.
const trials = { requests: 10, windowMs: 60_000 }
// Deliveries a page without `limit`, and with the largest one.
const usualPage = 50
const maxPage = 500
const dayS = 86_400

const Text = rule<string>('a string', (value) => typeof value === 'string')
const Events = described(
  listOf(enums(webhookEvents), webhookEvents.length, 1),
  `one or more of ${webhookEvents.join(', ')}`,
)
const WebhookParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no webhook endpoint with this id',
}
const DeliveryParams = {
  params: type({ id: Uuid, deliveryId: QueryInteger(1, Number.MAX_SAFE_INTEGER) }),
  notFound: 'The webhook endpoint has no delivery with this number',
}
const WebhookBody = type({ url: Text, events: optional(Events) })
const ChangesBody = atLeastOne(
  type({
    url: optional(Text),
    events: optional(Events),
    enabled: optional(described(boolean(), 'true or false')),
  }),
)
const RotateBody = type({
  overlapSeconds: optional(
    rule<number>(
      'a whole number of seconds, at most 30 days',
      (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 30 * dayS,
    ),
  ),
})
const Delivery = rule<number>(
  'the number of a delivery',
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
)
const RangeBody = type({
  from: Delivery,
  to: Delivery,
  failedOnly: optional(described(boolean(), 'true or false')),
})
const DeliveriesQuery = type({
  failed: optional(QueryFlag),
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(Text),
})

/** Webhooks by the API: the endpoints, what went there, and sending it again. */
export function webhookRoutes(api: Api<Principal>, deps: WebhookRouteDeps): void {
  endpointRoutes(api, deps)
  deliveryRoutes(api, deps)
}

/** The endpoints themselves, and a trial of one. */
function endpointRoutes(api: Api<Principal>, deps: WebhookRouteDeps): void {
  const { read } = deps.store
  const trying = makeRateLimiter(trials, deps.clock)
  const guard = () => ({ resolver: deps.openResolver(), allow: deps.allow })

  api.get('/v1/webhooks', {}, async ({ account }) => ({
    webhooks: await Promise.all(
      (await listEndpoints(read, account.accountId)).map((one) => shown(read, one)),
    ),
  }))

  api.post('/v1/webhooks', { body: WebhookBody }, async ({ account, body, remember }) => {
    const { url, events = webhookEvents } = body
    // Before the DNS is asked: a refusal costs nothing.
    await refuseEndpoint(read, deps.plans, account.accountId)
    await judgeTarget(guard(), url)
    const made = await addEndpoint(
      deps,
      deps.plans,
      account.accountId,
      { url, events },
      // The secret is sealed where it is kept, and so not kept here.
      async (tx, endpoint) => remember(tx, { ...(await shown(tx, endpoint)), secret: null }, 201),
    )
    return reply(201, { ...(await shown(read, made)), secret: made.secret })
  })

  api.get('/v1/webhooks/:id', WebhookParams, async ({ account, params }) =>
    shown(read, await findEndpoint(read, account.accountId, params.id)),
  )

  api.patch('/v1/webhooks/:id', { ...WebhookParams, body: ChangesBody }, async (request) => {
    const { account, params, body } = request
    const { url, events, enabled } = body
    await findEndpoint(read, account.accountId, params.id)
    if (url !== undefined) await judgeTarget(guard(), url)
    const changes = { url, events, enabled }
    return await shown(
      read,
      await updateEndpoint(deps, account.accountId, params.id, changes, 'account'),
    )
  })

  api.delete('/v1/webhooks/:id', WebhookParams, async ({ account, params: { id } }) => {
    await deleteEndpoint(deps, account.accountId, id)
    return { id, deleted: true, message: 'Webhook deleted, with what was kept of it' }
  })

  api.post('/v1/webhooks/:id/rotate', { ...WebhookParams, body: RotateBody }, async (request) => {
    const {
      account,
      params: { id },
      body,
      remember,
    } = request
    const answer = (secret: string | null, until: number | null) => ({
      id,
      secret,
      oldSecretUntil: isoTime(until),
    })
    const overlapMs = (body.overlapSeconds ?? dayS) * 1_000
    const { secret, oldSecretUntil } = await rotateSecret(
      deps,
      account.accountId,
      id,
      overlapMs,
      (tx, until) => remember(tx, answer(null, until)),
    )
    return answer(secret, oldSecretUntil)
  })

  api.post('/v1/webhooks/:id/test', WebhookParams, async ({ account: { accountId }, params }) => {
    await findEndpoint(read, accountId, params.id)
    refuseExcess(trying.take(accountId))
    const { signal } = new AbortController()
    const trial = { ...deps, ...guard(), read, signal }
    const { answer, body, tookMs } = await tryEndpoint(trial, accountId, params.id)
    return {
      taken: answer.kind === 'taken',
      status: 'status' in answer ? answer.status : null,
      response: 'response' in answer ? answer.response : null,
      error: 'error' in answer ? answer.error : null,
      tookMs,
      payload: storedJson(body),
    }
  })
}

/** What went to an endpoint, and sending it again. */
function deliveryRoutes(api: Api<Principal>, deps: WebhookRouteDeps): void {
  const { store, clock } = deps
  const again = { store, now: () => clock.now() }

  const list = { ...WebhookParams, query: DeliveriesQuery }
  api.get('/v1/webhooks/:id/deliveries', list, async ({ account, params, query }) => {
    const { failed = false, limit = usualPage, cursor } = query
    const scope = `webhook deliveries ${params.id} ${failed}`
    const after = cursor === undefined ? undefined : lastIn(textInCursor(cursor, scope))
    const asked = { failed, limit: limit + 1, after }
    const found = await readDeliveries(store.read, account.accountId, params.id, asked)
    const { page, ...more } = pageOf(found, limit, ({ outcome, id }) =>
      textCursorOf(`${outcome} ${id}`, scope),
    )
    return { deliveries: page.map(shownDelivery), ...more }
  })

  api.post(
    '/v1/webhooks/:id/deliveries/:deliveryId/replay',
    DeliveryParams,
    async ({ account, params: { id, deliveryId }, remember }) => ({
      queued: await replay(again, account.accountId, id, deliveryId, remembering(remember)),
    }),
  )

  api.post(
    '/v1/webhooks/:id/deliveries/replay',
    { ...WebhookParams, body: RangeBody },
    async ({ account, params: { id }, body, remember }) => {
      const range = { ...body, failedOnly: body.failedOnly ?? false }
      return { queued: await replay(again, account.accountId, id, range, remembering(remember)) }
    },
  )

  api.post(
    '/v1/webhooks/:id/replay',
    WebhookParams,
    async ({ account, params: { id }, remember }) => ({
      queued: await replay(again, account.accountId, id, 'failed', remembering(remember)),
    }),
  )
}

/**
 * Remembers the answer for a repeat with the same Idempotency-Key, in the transaction that queues
 * the last one.
 */
const remembering = (remember: Remember) => (tx: Tx, queued: number) => remember(tx, { queued })

/** What `textCursorOf` was given. */
function lastIn(text: string): LastDelivery {
  const [outcome, id] = text.split(' ')
  return { outcome: outcome as LastDelivery['outcome'], id: Number(id) }
}

/** An endpoint as the API shows it. */
const shown = async (read: Read, endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.events as WebhookEvent[],
  enabled: endpoint.enabled,
  failures: endpoint.failures,
  failingSince: isoTime(endpoint.failingSince),
  notArrived: await countNotArrived(read, endpoint.id),
  eventsNotKept: endpoint.eventsNotKept,
  disabledAt: isoTime(endpoint.disabledAt),
  disabledBecause: endpoint.disabledBecause,
  oldSecretUntil: isoTime(endpoint.oldSecretUntil),
  createdAt: isoTime(endpoint.createdAt),
})

/**
 * A delivery as the API shows it; `subjectId` is a mail's id, or that of what a step of an
 * automation tells of.
 */
const shownDelivery = ({
  outcome,
  emailId,
  createdAt,
  at,
  triedAt,
  body,
  cause: _,
  ...one
}: WebhookDelivery) => ({
  ...one,
  subjectId: emailId,
  state: outcome,
  payload: storedJson(body) ?? null,
  createdAt: isoTime(createdAt),
  nextAttemptAt: outcome === 'waiting' ? isoTime(at) : null,
  lastAttemptAt: isoTime(triedAt),
  endedAt: outcome === 'waiting' ? null : isoTime(at),
})
