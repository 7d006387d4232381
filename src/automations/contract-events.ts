import { refine, unknown } from 'superstruct'
import {
  accountRefusals,
  addressField,
  answer,
  inexactNumber,
  manyOf,
  operation,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  alternative,
  bodyId,
  closed,
  count,
  field,
  list,
  maybe,
  orNull,
  ownData,
  rule,
  type Schema,
  structOf,
  suchAs,
  table,
  text,
  textThat,
  time,
  uuid,
} from '../fields/index.js'
import { isJsonObject, type Json, jsonBytes } from '../json/index.js'
import { automationName } from './contract-parts.js'
import { eventNameForm } from './definition/definition.js'
import { entryRefusals } from './runs/status.js'

/** Events of a request, and of a walk. */
export const maxEvents = 100
export const maxPayloadBytes = 16 * 1024
const keyForm = /^[\x21-\x7e]{1,255}$/

const eventName = textThat(
  'a string of 1 to 100 of A-Z, a-z, 0-9, "_", ".", ":" and "-"',
  (name) => eventNameForm.test(name),
  text('The name of the event: 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-`', {
    pattern: eventNameForm.source,
  }),
  suchAs(
    'the name of an event, of 1 to 100 letters, digits, and _ . : - (those with $ are this server’s own)',
    'order.paid',
  ),
)

/** Bounded as JSON, since that is how it is stored and handed to templates. */
export const payloadOf = (schema: Schema) =>
  maybe(
    field(
      rule<Json>(
        `an object of at most ${maxPayloadBytes} bytes as JSON`,
        (value) => isJsonObject(value) && jsonBytes(value) <= maxPayloadBytes,
        { is: 'bytes', most: maxPayloadBytes },
      ),
      schema,
    ),
  )

/** A date and time with its offset. */
export const moment = (about: string) =>
  maybe(
    textThat(
      'a string: date and time in ISO 8601, such as "2026-11-22T10:00:00Z"',
      (text) =>
        /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
        !Number.isNaN(Date.parse(text)),
      time(about),
    ),
  )

// The single event and those of a batch must not differ.
const eventFields = {
  event: eventName,
  contactId: maybe(bodyId('The id of the contact; needed unless `email` is given')),
  email: maybe(
    addressField(
      'The address of the contact; one that the account does not know becomes a contact on no list',
    ),
  ),
  payload: payloadOf(
    ownData(
      'Data of your own, which conditions and templates see as `event` and `trigger`; at most 16 KiB as JSON',
    ),
  ),
  occurredAt: moment(
    'When the event happened; default: now. One that is older than 24 hours starts nothing, a time more than 5 minutes ahead is a 422',
  ),
}

// What other services call our fields, without case, `_` and `-`. Each of these fields changes what an event does.
const elsewhere = new Map([
  ['data', 'payload'],
  ['properties', 'payload'],
  ['eventproperties', 'payload'],
  ['params', 'payload'],
  ['attributes', 'payload'],
  ['timestamp', 'occurredAt'],
  ['time', 'occurredAt'],
  ['eventdate', 'occurredAt'],
  ['occurredat', 'occurredAt'],
  ['contactid', 'contactId'],
])

/**
 * Were such a field ignored like other unknown ones, an event of last week would count as one of now, or lose its data.
 */
function hasNoOtherNames(event: object) {
  const meant = (name: string) => elsewhere.get(name.toLowerCase().replace(/[_-]/g, ''))
  const own = Object.keys(eventFields)
  const name = Object.keys(event).find(
    (one) =>
      !own.includes(one) && meant(one) !== undefined && event[one as keyof typeof event] !== null,
  )
  return name === undefined || refusedName(event, name, `write ${meant(name)} in its place`)
}

/** The fault of a field that does not exist. */
const refusedName = (event: object, name: string, remedy: string) => ({
  path: [name],
  key: name,
  value: event[name as keyof typeof event],
  type: 'never',
  message: `This field is not supported: ${remedy}`,
})

/** The fault is named on `contactId`, which is the field that most clients mean to give. */
function hasWhom({ contactId, email }: { contactId?: unknown; email?: unknown }) {
  if (contactId !== undefined || email !== undefined) return true
  const message = 'Expected contactId or email'
  return { path: ['contactId'], key: 'contactId', value: undefined, type: 'string', message }
}

const single = table(eventFields)
const newEvent = field(
  refine(
    refine(refine(structOf(single), 'names', hasNoOtherNames), 'once', (event) => {
      const hasKey = 'idempotencyKey' in event && event.idempotencyKey !== null
      return !hasKey || refusedName(event, 'idempotencyKey', 'send the header Idempotency-Key')
    }),
    'required',
    hasWhom,
  ),
  {
    ...single.schema,
    anyOf: [alternative('By id', 'contactId'), alternative('By address', 'email')],
  },
)

const ofBatch = table(
  {
    ...eventFields,
    idempotencyKey: maybe(
      textThat(
        'a string of 1 to 255 visible ASCII characters',
        (key) => keyForm.test(key),
        text('Like the header `Idempotency-Key`, but for this event only', {
          pattern: keyForm.source,
        }),
      ),
    ),
  },
  { about: 'One of `contactId` and `email` is needed.' },
)
/**
 * An event of a batch. Each may have a key of its own, because a client that retries may batch its events differently.
 * They are judged one by one (`batch.ts`), so that each fault has its place.
 */
export const EventItem = refine(
  refine(structOf(ofBatch), 'names', hasNoOtherNames),
  'required',
  hasWhom,
)

const event = { event: 'user.signup', email: 'ann@example.org', payload: { plan: 'pro' } }
/** What an event came to: for each automation that begins with it, the run that began or why none did. */
const accepted = {
  event: eventName,
  contactId: uuid('The contact whose event it is'),
  contactCreated: { type: 'boolean', description: 'True: the contact is new to the account' },
  started: count('How many runs began'),
  resumed: count('How many runs waited for the event and go on'),
  automations: {
    type: 'array',
    description: 'The enabled automations that begin with the event',
    items: closed(
      {
        automationId: uuid('The id of an enabled automation that the event can start'),
        name: automationName.schema,
        started: { type: 'boolean', description: 'Whether a run of the contact began' },
        runId: orNull(
          uuid('The run that began, or the one that is under way; null: there is none'),
        ),
        reason: text('Why no run began; absent when one did', { enum: entryRefusals }),
      },
      ['reason'],
    ),
  },
}
const example = {
  event: 'user.signup',
  contactId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4c',
  contactCreated: true,
  started: 1,
  resumed: 0,
  automations: [
    {
      automationId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
      name: 'Welcome',
      started: true,
      runId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4b',
    },
  ],
}

// Neither is in the audit log: events come in masses and have a log of their own.
export const sendEvent = operation('POST /v1/events/send', {
  id: 'sendEvent',
  may: 'full',
  body: shape('NewEvent', newEvent),
  says: () => ({
    summary: 'Tell what a contact did',
    description:
      'Wakes the runs that wait for the event, and starts the enabled automations that begin with it. A contact who is under way in one gets no second run of it. Unknown fields are ignored, but those by which other APIs call `payload` and `occurredAt` (`properties`, `data`, `timestamp`) are refused, and the answer says what to write.',
    examples: { 'A sign-up': event },
    answers: [answer('It is taken in', 'EventAccepted', accepted, example, 202)],
    refusals: [
      // A contact of another account is not found either, so that nobody learns the ids of others.
      refusal(
        'not_found',
        'The account has no contact with this id',
        'The account has no contact with this id',
      ),
      // Where the two ids contradict each other neither is taken: a guess could mail the wrong person.
      refusal(
        'validation_error',
        '`contactId` and `email` name different contacts',
        'contactId and email name different contacts',
        { status: 422 },
      ),
      inexactNumber('payload.order'),
      refusal(
        'plan_limit_exceeded',
        'The address is unknown and the plan holds no more contacts',
        'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
      ),
      pastDue,
      ...accountRefusals,
    ],
  }),
})

export const sendEvents = operation('POST /v1/events/batch', {
  id: 'sendEvents',
  may: 'full',
  body: shape(
    'NewEvents',
    table({
      events: list(field(unknown(), ofBatch.schema), { least: 1, most: maxEvents }),
    }),
  ),
  says: () => ({
    summary: 'Tell what contacts did, 100 events at a time',
    description: 'All events are taken in, in their order, or none.',
    examples: { 'A sign-up': { events: [event] } },
    answers: [
      answer(
        'They are taken in',
        'EventsAccepted',
        { accepted: count('How many events were taken in'), results: manyOf('EventAccepted') },
        { accepted: 1, results: [example] },
        202,
      ),
    ],
    refusals: [
      // All or nothing, so that a repeat of the request cannot start some runs twice.
      refusal(
        'validation_error',
        'Some events are wrong; nothing was taken in',
        '1 of 2 events are invalid; none of them was taken in',
        {
          status: 422,
          shape: 'InvalidEvents',
          fields: {
            errors: manyOf({
              index: count('The place of the event in `events`, from 0'),
              error: text('What is wrong with it'),
            }),
          },
          example: { errors: [{ index: 1, error: 'The account has no contact with this id' }] },
        },
      ),
      ...accountRefusals,
    ],
  }),
})
