import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  deletedFields,
  invalidField,
  manyOf,
  operation,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  flag,
  list,
  maybe,
  oneOf,
  orNull,
  table,
  text,
  time,
  uuid,
  whole,
  words,
} from '../fields/index.js'
import {
  listWebhookDeliveries,
  replayFailedWebhooks,
  replayWebhookDeliveries,
  replayWebhookDelivery,
  testWebhook,
} from './contract-deliveries.js'
import { webhookEvents } from './event-names.js'

export * from './contract-deliveries.js'

export const daySeconds = 86_400

const endpoint = byId('endpoint', 'webhook endpoint')
// Public addresses only: otherwise an account could make the appliance POST to services in the operator's own
// network.
export const url = words(
  'The URL to POST events to: HTTPS, at a public address unless the operator allows others',
  { maxLength: 2_048, examples: ['https://app.example.com/hooks'] },
)
const eventsFor = (about: string) =>
  list(oneOf(webhookEvents), { least: 1, most: webhookEvents.length, about })
const wanted = 'The events that are sent to it'
export const events = eventsFor(wanted)
const enabled = flag('False: nothing is sent to it, and what comes is set aside for a replay')

// The secret is in none of these: it is shown when it is made, and kept encrypted.
const known = {
  id: uuid('The id of the endpoint, which never changes'),
  url: text('The URL that events are POSTed to'),
  // Empty where the stored list is broken.
  events: { type: 'array', items: { type: 'string' }, description: wanted },
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
// A repeat of the request gets the first answer without the secret: an answer that is remembered for 24 hours must
// not contain a secret.
const secret = orNull(
  text('The secret, shown only this once; null in a repeat with the same Idempotency-Key', {
    pattern: '^whsec_',
  }),
)
const example = {
  id: '01a1fc92-0000-7000-8000-2c3d4e5f6071',
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
const exampleSecret = 'whsec_bm90IGEgc2VjcmV0IGJ1dCBsb29rcyBsaWtlIG9uZQ'
// Checked before anything is sent, and again at each attempt, because names in the DNS can change to a private
// address.
const badUrl = () =>
  invalidField(
    'Nothing may be sent to that address, or it is not a URL for an endpoint',
    'The URL of a webhook endpoint must not have a user, a password or a #fragment',
    'url',
  )

export const listWebhooks = operation('GET /v1/webhooks', {
  id: 'listWebhooks',
  may: 'read',
  says: () => ({
    summary: 'List the endpoints',
    answers: [
      answer('Endpoints', 'Webhooks', { webhooks: manyOf('Webhook') }, { webhooks: [example] }),
    ],
  }),
})

export const createWebhook = operation('POST /v1/webhooks', {
  id: 'createWebhook',
  may: 'full',
  audit: 'webhook.create',
  body: shape('NewWebhook', table({ url, events: maybe(eventsFor('The events to send'), 'all') })),
  says: () => ({
    summary: 'Add an endpoint',
    description: 'Its secret is in this answer and in none after it.',
    examples: { 'Failures alone': { url: example.url, events: example.events } },
    answers: [
      answer(
        'It was made',
        'WebhookCreated',
        { ...known, secret },
        { ...example, secret: exampleSecret },
        201,
      ),
    ],
    refusals: [
      badUrl(),
      ...accountRefusals,
      pastDue,
      refusal('plan_limit_exceeded', 'The plan has no webhooks', 'The plan Free has no webhooks'),
      ceiling('50 webhook endpoints', 'webhook_endpoints'),
    ],
  }),
})

export const getWebhook = operation('GET /v1/webhooks/:id', {
  id: 'getWebhook',
  may: 'read',
  of: endpoint,
  says: () => ({
    summary: 'One endpoint',
    answers: [answer('The endpoint', 'Webhook', known, example)],
  }),
})

export const updateWebhook = operation('PATCH /v1/webhooks/:id', {
  id: 'updateWebhook',
  may: 'full',
  audit: 'webhook.change',
  of: endpoint,
  body: shape(
    'WebhookChanges',
    table(
      { url: maybe(url), events: maybe(events), enabled: maybe(enabled) },
      {
        atLeastOne: true,
        about: 'At least one field; those that are not given stay as they are.',
      },
    ),
  ),
  says: () => ({
    summary: 'Change an endpoint, or switch it off and on',
    description:
      'It holds within seconds, for what waits too. What waits when it is switched off is set aside, as is what comes until it is switched on (up to 64 MiB, and as long as the plan keeps its log): `notArrived` says how much, and `POST /v1/webhooks/{id}/replay` sends it.',
    examples: { Off: { enabled: false } },
    answers: [answer('As it is after the request', 'Webhook', known, example)],
    refusals: [badUrl()],
  }),
})

export const deleteWebhook = operation('DELETE /v1/webhooks/:id', {
  id: 'deleteWebhook',
  may: 'full',
  audit: 'webhook.delete',
  of: endpoint,
  says: () => ({
    summary: 'Delete an endpoint',
    answers: [
      answer('It was deleted', 'WebhookDeleted', deletedFields, {
        id: example.id,
        deleted: true,
        message: 'Webhook deleted, with what was kept of it',
      }),
    ],
  }),
})

export const rotateWebhookSecret = operation('POST /v1/webhooks/:id/rotate', {
  id: 'rotateWebhookSecret',
  may: 'full',
  audit: 'webhook.rotate',
  of: endpoint,
  body: shape(
    'WebhookRotation',
    table({
      overlapSeconds: maybe(
        whole('How many seconds the secret before it signs too', {
          least: 0,
          most: 30 * daySeconds,
        }),
        '86,400, a day',
      ),
    }),
  ),
  says: () => ({
    summary: 'Make a new secret',
    description: 'The one before it signs too for a while, so that no event is refused meanwhile.',
    examples: { 'Within an hour': { overlapSeconds: 3_600 } },
    answers: [
      answer(
        'The new one',
        'WebhookSecret',
        {
          id: uuid('The id that the request named'),
          secret,
          oldSecretUntil: known.oldSecretUntil,
        },
        { id: example.id, secret: exampleSecret, oldSecretUntil: '2026-11-21T11:00:00.000Z' },
      ),
    ],
  }),
})

export const webhooks: Contract = {
  tag: {
    name: 'Webhook endpoints',
    description:
      'URLs that events of an account’s mail are POSTed to, what went there, and sending it again.',
  },
  operations: [
    listWebhooks,
    createWebhook,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    rotateWebhookSecret,
    testWebhook,
    listWebhookDeliveries,
    replayWebhookDelivery,
    replayWebhookDeliveries,
    replayFailedWebhooks,
  ],
}
