import {
  accountRefusals,
  ceiling,
  confirmation,
  foreignCursor,
  invalidField,
  pageFields,
  pageQuery,
  pastDue,
  refusal,
} from '../contract/index.js'
import { closed, count, orNull, type Schema, shaped, text, time, uuid } from '../fields/index.js'
import { webhookEvents } from '../webhooks/index.js'
import type { Description } from './description.js'

const id = '01a1fc92-0000-7000-8000-2c3d4e5f6071'
const params = { id: 'The UUID of the endpoint' }
/**
 * Public addresses alone: an account could otherwise let the appliance POST to services of the
 * operator's own network.
 */
const url = text(
  'The URL to POST events to: HTTPS, at a public address unless the operator allows others',
  {
    maxLength: 2_048,
    examples: ['https://app.example.com/hooks'],
  },
)
/** The seven of the contract. */
const events: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: webhookEvents.length,
  items: { type: 'string', enum: webhookEvents },
}
const enabled = {
  type: 'boolean',
  description: 'False: nothing is sent to it, and what comes is set aside for a replay',
}
/** The secret is in none of these: it is shown when it is made, and kept encrypted. */
const known = {
  id: uuid('The id of the endpoint, which never changes'),
  url: text('The URL that events are POSTed to'),
  events: {
    type: 'array',
    items: { type: 'string' },
    description: 'The events that are sent to it',
  },
  enabled,
  failures: count(
    'How many events in a row were given up after their last attempt; from 30 on, and after 24 hours of failing, it is disabled',
  ),
  failingSince: orNull(time('When the first of them was given up; null: there are none')),
  notArrived: count(
    'How many events are kept that did not arrive, which a replay sends; 10000 stands for as many and more',
  ),
  eventsNotKept: count(
    'How many events came while it was disabled and were not kept, as 64 MiB were set aside for it',
  ),
  disabledAt: orNull(time('When it was disabled; null when it is enabled')),
  disabledBecause: orNull(text('Who disabled it, or which failures did; null when it is enabled')),
  oldSecretUntil: orNull(
    time('Until when the secret before the last rotation signs too; null: none does'),
  ),
  createdAt: time('When the endpoint was added'),
}
/**
 * A repeat of the request gets the first answer without the secret: an answer that is remembered
 * for 24 hours must not hold one.
 */
const secret = orNull(
  text('The secret, shown only this once; null in a repeat with the same Idempotency-Key', {
    pattern: '^whsec_',
  }),
)
/**
 * Kept so that somebody can see why an event did not arrive, and send it again; the contract itself
 * has no such history.
 */
const delivery = {
  id: count('The number of the delivery', { minimum: 1 }),
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
/** An endpoint that works. */
const endpoint = {
  id,
  url: 'https://app.example.com/hooks',
  events: ['email.bounced', 'email.complained'],
  enabled: true,
  failures: 0,
  failingSince: null,
  notArrived: 0,
  eventsNotKept: 0,
  disabledAt: null,
  disabledBecause: null,
  oldSecretUntil: null,
  createdAt: '2026-11-21T10:00:00.000Z',
}
/** An event as its receiver gets it. The appliance keeps the bytes that it has signed, so that a replay sends the same ones. */
const payload = {
  event: 'email.bounced',
  emailId: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  to: ['ann@example.org'],
  subject: 'Your order',
  status: 'bounced',
  timestamp: '2026-11-21T10:00:00.000Z',
  bounceReason: 'Permanent',
}
/** Also for an endpoint of another account. */
const noSuchWebhook = refusal(
  'not_found',
  'The account has no such endpoint',
  'The account has no webhook endpoint with this id',
)
/**
 * Judged before anything is sent, and again at each attempt, as names in the DNS can change to a
 * private address.
 */
const badUrl = invalidField(
  'Nothing may be sent to that address, or it is not a URL for an endpoint',
  'The URL of a webhook endpoint must not have a user, a password or a #fragment',
  'url',
)
/** 409: the endpoint is there, and its state is in the way. */
const isOff = refusal(
  'conflict',
  'It is disabled',
  'The webhook endpoint is disabled, so nothing is sent to it',
)
/** A count, since a replay may be of thousands. */
const queued = (value: number) => ({
  status: 200,
  when: 'Queued again',
  shape: 'WebhooksQueued',
  value: { queued: value },
})

export const webhookEndpoints: Description = {
  tag: {
    name: 'Webhook endpoints',
    description:
      'URLs that events of an account’s mail are POSTed to, what went there, and sending it again.',
  },
  schemas: {
    Webhook: closed(known),
    Webhooks: closed({ webhooks: { type: 'array', items: shaped('Webhook') } }),
    WebhookCreated: closed({ ...known, secret }),
    WebhookSecret: closed({
      id: uuid('The id that the request named'),
      secret,
      oldSecretUntil: known.oldSecretUntil,
    }),
    NewWebhook: {
      type: 'object',
      properties: { url, events: { ...events, description: 'The events to send; default: all' } },
      required: ['url'],
    },
    WebhookChanges: {
      type: 'object',
      minProperties: 1,
      description: 'At least one field; those that are not given stay as they are.',
      properties: { url, events: { ...events, description: known.events.description }, enabled },
    },
    WebhookRotation: {
      type: 'object',
      properties: {
        overlapSeconds: count(
          'How many seconds the secret before it signs too; default: 86,400, a day',
          {
            maximum: 2_592_000,
          },
        ),
      },
    },
    // By the numbers of deliveries, which the list shows: times would not tell apart what came in the same millisecond.
    WebhookReplay: {
      type: 'object',
      required: ['from', 'to'],
      properties: {
        from: count('The number of the first delivery', { minimum: 1 }),
        to: count('The number of the last one', { minimum: 1 }),
        failedOnly: {
          type: 'boolean',
          description: 'True: only deliveries that did not arrive; default: false',
        },
      },
    },
    // 200 whatever the receiver answered: the request to us went well, and what went wrong there is in the fields.
    WebhookTrial: closed({
      taken: { type: 'boolean', description: 'Whether the endpoint answered 2xx' },
      status: orNull(count('The HTTP status of its answer; null: there was none')),
      response: orNull(text('The beginning of the body of its answer; null: there was none')),
      error: orNull(text('Why it was not taken; null when it was')),
      tookMs: count('How many milliseconds it took'),
      payload: shaped('WebhookPayload'),
    }),
    WebhookDeliveries: closed({
      deliveries: { type: 'array', items: closed(delivery) },
      ...pageFields,
    }),
    WebhooksQueued: closed({
      queued: count(
        'How many deliveries are queued again; those that wait for an attempt already are not counted',
      ),
    }),
    WebhookDeleted: closed({
      id: uuid('The id that the request named'),
      deleted: { const: true },
      message: confirmation,
    }),
  },
  operations: {
    'GET /v1/webhooks': {
      id: 'listWebhooks',
      summary: 'List the endpoints',
      answers: [
        { status: 200, when: 'Endpoints', shape: 'Webhooks', value: { webhooks: [endpoint] } },
      ],
      refusals: [],
    },
    'POST /v1/webhooks': {
      id: 'createWebhook',
      summary: 'Add an endpoint',
      description: 'Its secret is in this answer and in none after it.',
      body: {
        shape: 'NewWebhook',
        examples: [
          { when: 'Failures alone', value: { url: endpoint.url, events: endpoint.events } },
        ],
      },
      answers: [
        {
          status: 201,
          when: 'It was made',
          shape: 'WebhookCreated',
          value: { ...endpoint, secret: 'whsec_bm90IGEgc2VjcmV0IGJ1dCBsb29rcyBsaWtlIG9uZQ' },
        },
      ],
      refusals: [
        badUrl,
        ...accountRefusals,
        pastDue,
        refusal('plan_limit_exceeded', 'The plan has no webhooks', 'The plan Free has no webhooks'),
        ceiling('50 webhook endpoints', 'webhook_endpoints'),
      ],
    },
    'GET /v1/webhooks/:id': {
      id: 'getWebhook',
      summary: 'One endpoint',
      params,
      answers: [{ status: 200, when: 'The endpoint', shape: 'Webhook', value: endpoint }],
      refusals: [noSuchWebhook],
    },
    'PATCH /v1/webhooks/:id': {
      id: 'updateWebhook',
      summary: 'Change an endpoint, or switch it off and on',
      description:
        'It holds within seconds, for what waits too. What waits when it is switched off is set aside, as is what comes until it is switched on (up to 64 MiB, and as long as the plan keeps its log): `notArrived` says how much, and `POST /v1/webhooks/{id}/replay` sends it.',
      params,
      body: {
        shape: 'WebhookChanges',
        examples: [{ when: 'Off', value: { enabled: false } }],
      },
      answers: [
        { status: 200, when: 'As it is after the request', shape: 'Webhook', value: endpoint },
      ],
      refusals: [noSuchWebhook, badUrl],
    },
    'DELETE /v1/webhooks/:id': {
      id: 'deleteWebhook',
      summary: 'Delete an endpoint',
      params,
      answers: [
        {
          status: 200,
          when: 'It was deleted',
          shape: 'WebhookDeleted',
          value: { id, deleted: true, message: 'Webhook deleted, with what was kept of it' },
        },
      ],
      refusals: [noSuchWebhook],
    },
    'POST /v1/webhooks/:id/rotate': {
      id: 'rotateWebhookSecret',
      summary: 'Make a new secret',
      description:
        'The one before it signs too for a while, so that no event is refused meanwhile.',
      params,
      body: {
        shape: 'WebhookRotation',
        examples: [{ when: 'Within an hour', value: { overlapSeconds: 3_600 } }],
      },
      answers: [
        {
          status: 200,
          when: 'The new one',
          shape: 'WebhookSecret',
          value: {
            id,
            secret: 'whsec_bm90IGEgc2VjcmV0IGJ1dCBsb29rcyBsaWtlIG9uZQ',
            oldSecretUntil: '2026-11-21T11:00:00.000Z',
          },
        },
      ],
      refusals: [noSuchWebhook],
    },
    'POST /v1/webhooks/:id/test': {
      id: 'testWebhook',
      summary: 'Send an invented event at once',
      description: 'Once, whether it is enabled or not. At most 10 a minute for an account.',
      params,
      answers: [
        {
          status: 200,
          when: 'What it answered',
          shape: 'WebhookTrial',
          value: { taken: true, status: 200, response: 'ok', error: null, tookMs: 84, payload },
        },
      ],
      refusals: [noSuchWebhook],
    },
    'GET /v1/webhooks/:id/deliveries': {
      id: 'listWebhookDeliveries',
      summary: 'What waits for an endpoint, and what went there',
      params,
      query: {
        failed: {
          type: 'boolean',
          default: false,
          description: 'Only deliveries that did not arrive',
        },
        ...pageQuery,
        limit: { ...pageQuery.limit, default: 50 },
      },
      answers: [
        {
          status: 200,
          when: 'What waits first, the newest first of each',
          shape: 'WebhookDeliveries',
          value: {
            deliveries: [
              {
                id: 4711,
                event: 'email.bounced',
                subjectId: payload.emailId,
                state: 'failed',
                attempts: 5,
                status: 500,
                response: 'Internal Server Error',
                error: 'HTTP 500',
                payload,
                createdAt: '2026-11-21T10:00:00.000Z',
                lastAttemptAt: '2026-11-21T10:01:15.000Z',
                nextAttemptAt: null,
                endedAt: '2026-11-21T10:01:15.000Z',
              },
            ],
            hasMore: false,
            nextCursor: null,
          },
        },
      ],
      refusals: [noSuchWebhook, foreignCursor],
    },
    'POST /v1/webhooks/:id/deliveries/:deliveryId/replay': {
      id: 'replayWebhookDelivery',
      summary: 'Send a delivery again',
      description: 'The same bytes, under a number of its own.',
      params: { ...params, deliveryId: count('The number of the delivery', { minimum: 1 }) },
      answers: [queued(1)],
      refusals: [noSuchWebhook, isOff],
    },
    'POST /v1/webhooks/:id/deliveries/replay': {
      id: 'replayWebhookDeliveries',
      summary: 'Send a range of deliveries again',
      description:
        'All deliveries from the first number to the last, whether they arrived or not, each with the same bytes as before; with `failedOnly` only those that did not arrive.',
      params,
      body: {
        shape: 'WebhookReplay',
        examples: [
          { when: 'What failed in an hour', value: { from: 4711, to: 4720, failedOnly: true } },
        ],
      },
      answers: [queued(3)],
      refusals: [noSuchWebhook, isOff],
    },
    'POST /v1/webhooks/:id/replay': {
      id: 'replayFailedWebhooks',
      summary: 'Send all again that did not arrive',
      description:
        'All that failed five times or was set aside as the endpoint was switched off. What waits for its next attempt goes out by itself, so `queued` may be 0 for more than a minute after a receiver began to fail.',
      params,
      answers: [queued(12)],
      refusals: [noSuchWebhook, isOff],
    },
  },
}
