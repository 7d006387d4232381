import { markChanged } from '../../changes/index.js'
import {
  cell,
  type Ids,
  idsOf,
  prepared,
  preparedInsertAll,
  rowsOf,
  type Tx,
} from '../../store/index.js'
import type { RunContact, StoredEvent, Versions } from '../definition/index.js'
import { eventsOf, type LiveRow } from '../runs/index.js'

/** What taking in events needs. */
export interface IngestDeps {
  ids: Pick<Ids, 'uuid'>
  versions: Versions
}

/** Something that happened to a contact of the account. */
export interface NewEvent {
  contact: RunContact
  name: string
  /** JSON. */
  payload: string | null
  /** When it happened, where the client says so (ms). */
  occurredAt?: number | undefined
  /** How many automations' mails in a row have led to it. */
  depth?: number
}

/** An event that was written, with whose it is. */
export interface TakenEvent extends NewEvent {
  stored: StoredEvent
}

/**
 * Keeps events, and no more. Their rising ids are given here, inside the one write at a time: an event's place tells
 * what came before it.
 */
export async function storeEvents(
  tx: Tx,
  accountId: string,
  now: number,
  events: readonly NewEvent[],
): Promise<TakenEvent[]> {
  const [last] = await lastEvent(tx, {})
  const first = (last?.id ?? 0) + 1
  const taken = events.map((event, place): TakenEvent => {
    const { name, payload } = event
    const parsed = payload === null ? null : JSON.parse(payload)
    return { ...event, stored: { id: first + place, name, payload: parsed, at: now } }
  })
  await insertEvents(
    tx,
    taken.map(({ stored, contact, payload, occurredAt = null, depth = 0 }) => ({
      id: stored.id,
      account_id: accountId,
      contact_id: contact.id,
      name: stored.name,
      payload,
      at: now,
      occurred_at: occurredAt,
      depth,
    })),
  )
  await markChanged(
    tx,
    accountId,
    taken.map(({ contact }) => contact.id),
  )
  const pairs = new Map(
    taken.map(({ contact, name }) => [`${contact.id} ${name}`, [contact.id, name]]),
  )
  for (const { contactId, name } of await crowded(tx, {
    json: JSON.stringify([...pairs.values()]),
  })) {
    const runs = await liveOf(tx, { contactId })
    await trim(tx, { contactId, name, needed: JSON.stringify(runs.flatMap(eventsOf)) })
  }
  return taken
}

// automations.md §3.8: events that are kept for each contact and event name.
const maxKept = 500
// Events are deleted so many at a time, as looking for old ones at every event would cost too much.
const trimmedAtOnce = 50

/** Finds the pairs of contact and event name that have enough old events for a deletion. */
const crowded = prepared<{ json: string }, { contactId: string; name: string }>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .select([cell(0, 'text').as('contactId'), cell(1, 'text').as('name')])
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('automation_events')
          .select('id')
          .where('contact_id', '=', cell(0, 'text'))
          .where('name', '=', cell(1, 'text'))
          .orderBy('id', 'desc')
          .limit(1)
          .offset(eb.lit(maxKept + trimmedAtOnce - 1)),
      ),
    ),
)

/** The oldest events of a name beyond the newest 500; never one that a live run remembers. */
const trim = prepared<{ contactId: string; name: string; needed: string }, unknown>(
  (db, { contactId, name, needed }) =>
    db
      .deleteFrom('automation_events')
      .where('contact_id', '=', contactId)
      .where('name', '=', name)
      .where('id', '<=', (eb) =>
        eb
          .selectFrom('automation_events as newer')
          .select('newer.id')
          .where('newer.contact_id', '=', contactId)
          .where('newer.name', '=', name)
          .orderBy('newer.id', 'desc')
          .limit(1)
          .offset(eb.lit(maxKept)),
      )
      .where('id', 'not in', idsOf(needed, 'integer')),
)

/** The live runs of a contact. */
const liveOf = prepared<{ contactId: string }, LiveRow>((db, { contactId }) =>
  db.selectFrom('automation_live').selectAll().where('contact_id', '=', contactId),
)

/** The highest number of an event that is kept; `forget.ts` never deletes the newest. */
const lastEvent = prepared<object, { id: number | null }>((db) =>
  db.selectFrom('automation_events').select((eb) => eb.fn.max('id').as('id')),
)

const insertEvents = preparedInsertAll('automation_events')
