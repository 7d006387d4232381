import {
  answer,
  byId,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  flag,
  maybe,
  orNull,
  queryFlag,
  queryWhole,
  shaped,
  table,
  text,
  time,
  uuid,
  whole,
} from '../fields/index.js'

/** How many deliveries a page has without `limit`. */
export const usualDeliveries = 50

const endpoint = byId('endpoint', 'webhook endpoint')
const about = 'The number of the delivery'
const delivery = {
  params: { ...endpoint.params, deliveryId: queryWhole(1, Number.MAX_SAFE_INTEGER, about) },
  about: { ...endpoint.about, deliveryId: count(about, { minimum: 1 }) },
  notFound: 'The webhook endpoint has no delivery with this number',
  when: 'The endpoint has no such delivery',
}

// Kept so that somebody can see why an event did not arrive, and send it again; interface.md has no such history.
const known = {
  id: count(about, { minimum: 1 }),
  event: text('The name of the event', { examples: ['email.delivered'] }),
  subjectId: uuid('The id of the mail, or of what else the event is about'),
  state: {
    type: 'string',
    enum: ['waiting', 'delivered', 'failed', 'dropped'],
    description:
      '`failed`: not taken at the last attempt. `dropped`: set aside as the endpoint was disabled',
  },
  attempts: count('How many attempts were made so far'),
  status: orNull(count('The HTTP status of the answer to the last attempt; null: there was none')),
  response: orNull(text('The beginning of the body of that answer; null: there was none')),
  error: orNull(text('Why it was not taken; null when it was, or was not tried yet')),
  payload: { description: 'The body that was sent, or is to be sent' },
  createdAt: time('When the delivery was queued'),
  lastAttemptAt: orNull(time('When the last attempt was made, or it was set aside; null before')),
  nextAttemptAt: orNull(time('When the next attempt is due; null when it has ended')),
  endedAt: orNull(time('When it ended; null while it waits')),
}
// An event as its receiver gets it. The bytes that were signed are kept, so that a replay sends the same bytes.
const payload = {
  event: 'email.bounced',
  emailId: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  to: ['ann@example.org'],
  subject: 'Your order',
  status: 'bounced',
  timestamp: '2026-11-21T10:00:00.000Z',
  bounceReason: 'Permanent',
}
const example = {
  id: 4711,
  event: payload.event,
  subjectId: payload.emailId,
  state: 'failed',
  attempts: 5,
  status: 500,
  response: 'Internal Server Error',
  error: 'HTTP 500',
  payload,
  createdAt: payload.timestamp,
  lastAttemptAt: '2026-11-21T10:01:15.000Z',
  nextAttemptAt: null,
  endedAt: '2026-11-21T10:01:15.000Z',
}
// A count, since a replay may be of thousands.
const queued = (value: number) =>
  answer(
    'Queued again',
    'WebhooksQueued',
    {
      queued: count(
        'How many deliveries are queued again; those that wait for an attempt already are not counted',
      ),
    },
    { queued: value },
  )
// 409: the endpoint exists, but its state does not allow this.
const isOff = () =>
  refusal(
    'conflict',
    'It is disabled',
    'The webhook endpoint is disabled, so nothing is sent to it',
  )

export const testWebhook = operation('POST /v1/webhooks/:id/test', {
  id: 'testWebhook',
  may: 'full',
  audit: 'webhook.test',
  of: endpoint,
  says: () => ({
    summary: 'Send an invented event at once',
    description: 'Once, whether it is enabled or not. At most 10 a minute for an account.',
    // 200 whatever the receiver answered: the request to us succeeded, and the fields say what went wrong there.
    answers: [
      answer(
        'What it answered',
        'WebhookTrial',
        {
          taken: flag('Whether the endpoint answered 2xx'),
          status: orNull(count('The HTTP status of its answer; null: there was none')),
          response: orNull(text('The beginning of the body of its answer; null: there was none')),
          error: orNull(text('Why it was not taken; null when it was')),
          tookMs: count('How many milliseconds it took'),
          payload: shaped('WebhookPayload'),
        },
        { taken: true, status: 200, response: 'ok', error: null, tookMs: 84, payload },
      ),
    ],
  }),
})

export const listWebhookDeliveries = operation('GET /v1/webhooks/:id/deliveries', {
  id: 'listWebhookDeliveries',
  may: 'read',
  of: endpoint,
  query: {
    failed: maybe(queryFlag('Only deliveries that did not arrive')),
    ...pageParams(usualDeliveries),
  },
  says: () => ({
    summary: 'What waits for an endpoint, and what went there',
    answers: [
      answer(
        'What waits first, the newest first of each',
        'WebhookDeliveries',
        { deliveries: manyOf(known), ...pageFields },
        { deliveries: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const replayWebhookDelivery = operation(
  'POST /v1/webhooks/:id/deliveries/:deliveryId/replay',
  {
    id: 'replayWebhookDelivery',
    may: 'full',
    audit: 'webhook.replay',
    of: delivery,
    says: () => ({
      summary: 'Send a delivery again',
      description: 'The same bytes, under a number of its own.',
      answers: [queued(1)],
      refusals: [refusal('not_found', endpoint.when, endpoint.notFound), isOff()],
    }),
  },
)

export const replayWebhookDeliveries = operation('POST /v1/webhooks/:id/deliveries/replay', {
  id: 'replayWebhookDeliveries',
  may: 'full',
  audit: 'webhook.replay',
  of: endpoint,
  // By the numbers of deliveries, which the list shows: times would not distinguish events of the same millisecond.
  body: shape(
    'WebhookReplay',
    table({
      from: whole('The number of the first delivery', { least: 1 }),
      to: whole('The number of the last one', { least: 1 }),
      failedOnly: maybe(flag('True: only deliveries that did not arrive'), 'false'),
    }),
  ),
  says: () => ({
    summary: 'Send a range of deliveries again',
    description:
      'All deliveries from the first number to the last, whether they arrived or not, each with the same bytes as before; with `failedOnly` only those that did not arrive.',
    examples: { 'What failed in an hour': { from: 4711, to: 4720, failedOnly: true } },
    answers: [queued(3)],
    refusals: [isOff()],
  }),
})

export const replayFailedWebhooks = operation('POST /v1/webhooks/:id/replay', {
  id: 'replayFailedWebhooks',
  may: 'full',
  audit: 'webhook.replay',
  of: endpoint,
  says: () => ({
    summary: 'Send all again that did not arrive',
    description:
      'All that failed five times or was set aside as the endpoint was switched off. What waits for its next attempt goes out by itself, so `queued` may be 0 for more than a minute after a receiver began to fail.',
    answers: [queued(12)],
    refusals: [isOff()],
  }),
})
