import { optional, refine, type, unknown } from 'superstruct'
import { BodyId, listOf, QueryInteger, rule, Uuid } from '../fields/index.js'
import { isJsonObject, type Json, jsonBytes } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import { endStatuses, liveStatuses, type RunStatus } from './runs/index.js'
import { afterMs } from './trial/index.js'

/*
 * What requests about automations and events look like. Every rule says in its message what it expects.
 */
export const AutomationParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no automation with this id',
}
/** The path of a run. */
export const RunParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no automation run with this id',
}

/** Rows a page at most, and without `limit`. */
export const maxPage = 100
export const usualPage = 20
export const maxName = 200
// Events of a batch, and of a walk.
const maxEvents = 100
const maxPayloadBytes = 16 * 1024

/** Half of a surrogate pair is refused, as it could not be written as UTF-8. */
const Name = rule<string>(
  `a string of 1 to ${maxName} characters without control characters`,
  (value) =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    [...value].length <= maxName &&
    !/[\p{Cc}\p{Cs}]/u.test(value),
)

// Their contents have faults by step: `validate`.
const Steps = rule<unknown[]>('an array of steps: { key, type, config }', Array.isArray)
const Connections = rule<unknown[]>('an array of connections: { from, to, type }', Array.isArray)
/**
 * Only that it is an object: what is in it is judged with the steps (`validate.ts`), so that all
 * faults are told at once.
 */
const Settings = rule<object>('an object', isJsonObject)

/** A new automation. */
export const AutomationBody = type({
  name: Name,
  steps: Steps,
  connections: Connections,
  settings: optional(Settings),
})

/** What is to be changed of one. */
export const ChangesBody = type({
  name: optional(Name),
  steps: optional(Steps),
  connections: optional(Connections),
  settings: optional(Settings),
})

const Cursor = rule<string>(
  'the nextCursor of an earlier answer',
  (value) => typeof value === 'string',
)
/** Which page of the automations. */
export const AutomationsQuery = type({
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(Cursor),
})

/** All that a run may be. */
export const runStatuses = [...liveStatuses, ...endStatuses] as const

/** Which page of the runs, and only those of some statuses. */
export const RunsQuery = type({
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(Cursor),
  status: optional(
    rule<string>(
      `one or more of ${runStatuses.join(', ')}, separated by commas`,
      (value) =>
        typeof value === 'string' &&
        value.split(',').every((one) => runStatuses.some((status) => status === one)),
    ),
  ),
})

/** The statuses that a query asks for; all without one. */
export const statusesIn = (text: string | undefined): readonly RunStatus[] =>
  text === undefined ? runStatuses : runStatuses.filter((one) => text.split(',').includes(one))

/** Bounded as JSON, since that is how it is stored and handed to templates. */
const payload = rule<Json>(
  `an object of at most ${maxPayloadBytes} bytes as JSON`,
  (value) => isJsonObject(value) && jsonBytes(value) <= maxPayloadBytes,
)

/** Judged by the parser that reads it. */
const Address = rule<string>(
  'an address: "email@domain"',
  (value) => typeof value === 'string' && parseMailbox(value) !== undefined,
)

/** The single event and the batch share them. */
const eventFields = {
  event: rule<string>(
    'a string of 1 to 100 of A-Z, a-z, 0-9, "_", ".", ":" and "-"',
    (value) => typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,100}$/.test(value),
  ),
  contactId: optional(BodyId),
  email: optional(Address),
  payload: optional(payload),
  occurredAt: optional(
    rule<string>(
      'a string: date and time in ISO 8601, such as "2026-11-22T10:00:00Z"',
      (value) => typeof value === 'string' && isTime(value),
    ),
  ),
}

/** Whether it is a date and time with its offset. */
const isTime = (text: string) =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
  !Number.isNaN(Date.parse(text))

/** What our fields are called elsewhere, without case, `_` and `-`: each of them changes what an event does. */
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

/** Ignored like other unknown fields, an event of last week would count as one of now, or lose its data. */
function hasNoOtherNames(event: object) {
  const meant = (name: string) => elsewhere.get(name.toLowerCase().replace(/[_-]/g, ''))
  const own = Object.keys(eventFields)
  const name = Object.keys(event).find(
    (one) =>
      !own.includes(one) && meant(one) !== undefined && event[one as keyof typeof event] !== null,
  )
  return name === undefined || refusedName(event, name, `write ${meant(name)} in its place`)
}

/** A failure about a field that there is not. */
const refusedName = (event: object, name: string, remedy: string) => ({
  path: [name],
  key: name,
  value: event[name as keyof typeof event],
  type: 'never',
  message: `This field is not supported: ${remedy}`,
})

/** One event; it says whom it is about. */
export const EventBody = refine(
  refine(refine(type(eventFields), 'names', hasNoOtherNames), 'once', (event) => {
    const hasKey = 'idempotencyKey' in event && event.idempotencyKey !== null
    return !hasKey || refusedName(event, 'idempotencyKey', 'send the header Idempotency-Key')
  }),
  'required',
  hasWhom,
)

/**
 * In a batch each event may have a key of its own, because a client's retry may put together other
 * batches.
 */
export const EventItem = refine(
  refine(
    type({
      ...eventFields,
      idempotencyKey: optional(
        rule<string>(
          'a string of 1 to 255 visible ASCII characters',
          (value) => typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value),
        ),
      ),
    }),
    'names',
    hasNoOtherNames,
  ),
  'required',
  hasWhom,
)

/** A batch: its events are judged one by one (`batch.ts`), so that each fault has its place. */
export const EventsBody = type({ events: listOf(unknown(), maxEvents, 1) })

/** Named on `contactId`, which is the field that most clients mean to give. */
function hasWhom({ contactId, email }: { contactId?: unknown; email?: unknown }) {
  if (contactId !== undefined || email !== undefined) return true
  const message = 'Expected contactId or email'
  return { path: ['contactId'], key: 'contactId', value: undefined, type: 'string', message }
}

const Payload = optional(payload)
const Time = eventFields.occurredAt
// A map of durations by the step's key; `afterMs` reads each.
const Afters = optional(
  rule<Record<string, string>>(
    'an object of durations by the key of a send step, such as { "welcome": "PT2H" }',
    (value) =>
      isJsonObject(value) &&
      Object.values(value).every((one) => typeof one === 'string' && afterMs(one) !== undefined),
  ),
)

/** The world that is walked through: who, when, and what happens on the way. */
const simulation = type({
  email: optional(Address),
  listId: optional(BodyId),
  payload: Payload,
  at: Time,
  events: optional(
    listOf(
      type({ event: SystemOrClientName(), at: Time, after: optional(After()), payload: Payload }),
      maxEvents,
    ),
  ),
  opens: Afters,
  clicks: Afters,
  until: Time,
  steps: optional(Steps),
  connections: optional(Connections),
  settings: optional(Settings),
})

/** About one address, or about a list. */
export const SimulationBody = refine(simulation, 'required', ({ email, listId }) => {
  if ((email === undefined) !== (listId === undefined)) return true
  const message = 'Expected either email or listId'
  return { path: ['email'], key: 'email', value: undefined, type: 'string', message }
})

/** A walk may also play the appliance's own events, which begin with $. */
function SystemOrClientName() {
  return rule<string>(
    'the name of an event',
    (value) => typeof value === 'string' && /^[$A-Za-z0-9_.:-]{1,100}$/.test(value),
  )
}

/** A duration after the start of a walk. */
function After() {
  return rule<string>(
    'a duration after the start, such as "P2D" or "2d"',
    (value) => typeof value === 'string' && afterMs(value) !== undefined,
  )
}
