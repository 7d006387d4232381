import {
  type AccountBilling,
  checkAdding,
  checkOpen,
  contactCeiling,
  type Plans,
} from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import { addContactIn, type ContactEffect } from '../../contacts/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import { refuseInexact } from '../../json/index.js'
import type { Meter } from '../../metrics/index.js'
import { parseMailbox } from '../../mime/index.js'
import { idsOf, prepared, type Store, type Tx } from '../../store/index.js'
import type { RunContact, Versions } from '../definition/index.js'
import { contactColumns, contactOf, type RunContactRow } from '../runs/index.js'
import { type IngestedEvent, ingestEvents } from './ingest.js'
import { type AcceptedEvent, type EventInput, findRepeats } from './repeats.js'
import type { NewEvent } from './store-events.js'

/** What accepting events needs. */
export interface AcceptDeps {
  store: Store
  clock: Clock
  plans: Plans
  versions: Versions
  meter: Meter
  /** Whether as many runs are live as are allowed: then no event starts another. */
  isFull: () => Promise<boolean>
  /** What follows when an unknown address becomes a contact. */
  follow?: ContactEffect
  /** There is something for the engine to do; losing a call costs some seconds. */
  automate: () => void
  /**
   * Called in place of `automate` where only the store knows whether a run is due: after a goal, or for somebody who
   * has just become a contact.
   */
  automateIfDue: () => void
}

/**
 * Takes in events of an account, in order, all of them or none. An address that the account does not know becomes a
 * contact on no list. Throws what is wrong with the first event, or, with `together`, a 422 that names all wrong
 * events, also those that their reader found wrong. `alongside` is written with them.
 */
export async function acceptEvents(
  deps: AcceptDeps,
  billing: AccountBilling,
  inputs: readonly (EventInput | ApiError)[],
  {
    together = false,
    alongside = async () => {},
  }: {
    together?: boolean
    alongside?: (tx: Tx, accepted: readonly AcceptedEvent[]) => Promise<void>
  } = {},
): Promise<AcceptedEvent[]> {
  const { store, clock, versions } = deps
  checkOpen(billing)
  const { accountId } = billing
  const legible = inputs.filter((input): input is EventInput => !(input instanceof ApiError))
  // Asked before the write, as it may count rows: all other writes wait while a write lasts.
  const full = await deps.isFull()
  const { accepted, heard } = await store.write(async (tx) => {
    const now = clock.now()
    const whom = await findWhom(tx, accountId, legible)
    const repeats = await findRepeats(tx, accountId, legible, now)
    const errors: { index: number; error: string }[] = []
    const events: (NewEvent & { index: number; created: boolean })[] = []
    const repeated = new Map<number, { answer: AcceptedEvent } | { place: number }>()
    for (const [index, input] of inputs.entries()) {
      try {
        if (input instanceof ApiError) throw input
        refuseInexact('payload', input.payload)
        const before = repeats.of(input, index)
        if (before !== undefined) {
          repeated.set(index, before)
          continue
        }
        const found = whom(input)
        const contact =
          found ?? (await addStranger(tx, { id: store.ids.uuid(), now }, billing, deps, input))
        events.push({ ...eventOf(input, contact, now), index, created: found === undefined })
        if (found === undefined) whom.add(contact)
      } catch (error) {
        if (!together || !(error instanceof ApiError) || error.status >= 500) throw error
        errors.push({ index, error: messageOf(error) })
      }
    }
    if (errors.length > 0) throw invalidEvents(errors, inputs.length)
    const heard = await ingestEvents(tx, { ids: store.ids, versions }, { accountId, now }, events)
    if (full && heard.some(({ started }) => started.some((one) => one.started))) throw tooManyRuns()
    const fresh = new Map(
      events.map((event, place) => [event.index, answerOf(event, heard[place])] as const),
    )
    for (const [index, answer] of fresh)
      await repeats.keep(tx, legible[index] ?? { event: answer.event }, answer)
    const answers = inputs.map((_, index): AcceptedEvent => {
      const before = repeated.get(index)
      const place = before !== undefined && 'place' in before ? before.place : index
      const answer = before !== undefined && 'answer' in before ? before.answer : fresh.get(place)
      if (answer === undefined) throw new Error('An event that was taken in has no result')
      return answer
    })
    await alongside(tx, answers)
    return { accepted: answers, heard: [...fresh.values()] }
  }, accountId)
  for (const { started, resumed } of heard) {
    const result = started > 0 ? 'started' : resumed > 0 ? 'resumed' : 'kept'
    deps.meter.count('posthorn_automation_events_total', { result })
  }
  if (accepted.some(({ started, resumed }) => started + resumed > 0)) deps.automate()
  else deps.automateIfDue()
  return accepted
}

/**
 * The fields and their names are the contract's (interface.md, POST /v1/events/send). An automation
 * that was not started is told too, with its reason, because "nothing happened" is what people ask
 * about.
 */
function answerOf(
  { name, contact, created }: NewEvent & { created: boolean },
  { started = [], resumed = 0 }: Partial<IngestedEvent> = {},
): AcceptedEvent {
  return {
    event: name,
    contactId: contact.id,
    contactCreated: created,
    started: started.filter((one) => one.started).length,
    resumed,
    automations: started,
  }
}

/** A 503 for events that would start runs when as many are live as are allowed. */
export const tooManyRuns = () =>
  new ApiError('service_unavailable', 'Too many runs of automations are live; try again later', {
    headers: { 'retry-after': '60' },
    is: 'tooManyRuns',
  })

/**
 * The 422 that names every event of a batch that is wrong: none of the others was taken in either.
 */
const invalidEvents = (errors: { index: number; error: string }[], of: number) =>
  new ApiError(
    'validation_error',
    `${errors.length} of ${of} events are invalid; none of them was taken in`,
    { status: 422, fields: { errors } },
  )

// As far as a client's clock may be ahead of ours.
const maxSkewMs = 300_000

/**
 * `occurredAt` may be a little ahead, as clocks differ. Further ahead it is a mistake of units or zones, and would
 * start runs in the future. It is stored as now at the latest.
 */
function eventOf(input: EventInput, contact: RunContact, now: number): NewEvent {
  const { event: name, payload, occurredAt } = input
  const at = occurredAt === undefined ? undefined : Date.parse(occurredAt)
  if (at !== undefined && at > now + maxSkewMs) {
    const message = 'occurredAt is in the future: expected when the event happened'
    throw new ApiError('validation_error', message, { status: 422 })
  }
  return {
    contact,
    name,
    payload: payload === undefined ? null : JSON.stringify(payload),
    ...(at === undefined ? {} : { occurredAt: Math.min(at, now) }),
  }
}

/** Whom an event is about; undefined for an address that the account does not know. */
interface Whom {
  (input: EventInput): RunContact | undefined
  add(contact: RunContact): void
}

/** Finds the contacts of all events, a query for those by id and one for those by address. */
async function findWhom(tx: Tx, accountId: string, inputs: readonly EventInput[]): Promise<Whom> {
  const ids = inputs.flatMap(({ contactId }) =>
    contactId === undefined ? [] : [contactId.toLowerCase()],
  )
  const keys = inputs.flatMap(({ email }) => (email === undefined ? [] : [keyOf(email)]))
  const byId = new Map<string, RunContact>()
  const byKey = new Map<string, RunContact>()
  const add = (contact: RunContact) => {
    byId.set(contact.id, contact)
    byKey.set(contact.email.toLowerCase(), contact)
  }
  if (ids.length > 0) {
    const rows = await contactsById(tx, { ids: JSON.stringify(ids) })
    for (const { accountId: of, ...row } of rows) if (of === accountId) add(contactOf(row))
  }
  if (keys.length > 0) {
    const rows = await contactsByAddress(tx, { accountId, keys: JSON.stringify(keys) })
    for (const row of rows) add(contactOf(row))
  }
  const find = ({ contactId, email }: EventInput) => {
    if (contactId === undefined) return byKey.get(keyOf(email ?? ''))
    const contact = byId.get(contactId.toLowerCase())
    if (contact === undefined)
      throw new ApiError('not_found', 'The account has no contact with this id')
    if (email !== undefined && contact.email.toLowerCase() !== keyOf(email)) {
      const message = 'contactId and email name different contacts'
      throw new ApiError('validation_error', message, { status: 422 })
    }
    return contact
  }
  return Object.assign(find, { add })
}

/** The form in which addresses are compared; a text that is no address stays as it is and matches no contact. */
const keyOf = (email: string) => (parseMailbox(email)?.address ?? email).toLowerCase()

/**
 * An event may name an address that the account does not know: it becomes a contact on no list, within the plan's
 * ceiling for contacts, in the same transaction as the event.
 */
async function addStranger(
  tx: Tx,
  made: { id: string; now: number },
  billing: AccountBilling,
  { plans, follow }: AcceptDeps,
  { email = '' }: EventInput,
): Promise<RunContact> {
  const { contact } = await addContactIn(
    tx,
    made,
    billing.accountId,
    { email },
    {
      ceiling: contactCeiling(plans, billing),
      checkNew: () => checkAdding(billing),
      follow,
    },
  )
  const { id, firstName, lastName, phone, createdAt } = contact
  return { id, email: contact.email, firstName, lastName, phone, metadata: {}, createdAt }
}

// The account is compared afterwards: with it in the query SQLite would read all contacts of the account.
const contactsById = prepared<{ ids: string }, RunContactRow & { accountId: string }>(
  (db, { ids }) =>
    db
      .selectFrom('contacts')
      .select([...contactColumns, 'account_id as accountId'])
      .where('id', 'in', idsOf(ids, 'text')),
)

/**
 * Through the index on account and address, in lower case: mail programs and shops write one
 * address in many ways.
 */
const contactsByAddress = prepared<{ accountId: string; keys: string }, RunContactRow>(
  (db, { accountId, keys }) =>
    db
      .selectFrom('contacts')
      .select(contactColumns)
      .where('account_id', '=', accountId)
      .where('address', 'in', idsOf(keys, 'text')),
)
