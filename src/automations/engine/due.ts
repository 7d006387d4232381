import { cell, prepared, type Read, rowsOf } from '../../store/index.js'
import { type SuppressionReason, suppressionsAmong } from '../../suppression/index.js'
import { optedOutAmong } from '../../topics/index.js'
import {
  type Departure,
  departureOf,
  type FrozenVersion,
  type RunContact,
  type StoredEvent,
} from '../definition/index.js'
import { type Engagements, readEngagement } from '../events/index.js'
import { type EventColumns, eventsById, eventsOf, type LiveRow, toEvent } from '../runs/index.js'

/** A run that is due, with its contact as read. */
export interface DueRun {
  row: LiveRow
  contact: RunContact | undefined
  version: FrozenVersion
}

/** A live run with its contact's columns; all of these null where the contact was deleted. */
interface DueColumns extends LiveRow {
  email: string | null
  firstName: string | null
  lastName: string | null
  phone: string | null
  metadata: string | null
  createdAt: number | null
}

/** The runs of an account that are due, the longest due first: a range of an index. */
export const dueRuns = prepared<{ accountId: string; now: number; limit: number }, DueColumns>(
  (db, { accountId, now, limit }) =>
    db
      .selectFrom('automation_live as live')
      .leftJoin('contacts', 'contacts.id', 'live.contact_id')
      .selectAll('live')
      .select(['contacts.email', 'first_name as firstName', 'last_name as lastName', 'phone'])
      .select(['metadata', 'contacts.created_at as createdAt'])
      .where('live.account_id', '=', accountId)
      .where('live.due_at', '<=', now)
      .orderBy('live.due_at')
      .limit(limit),
)

/** Undefined for a contact that was deleted: its run is then ended and not advanced. */
export function runContactOf(row: DueColumns): RunContact | undefined {
  const { contact_id: id, email, firstName, lastName, phone, metadata, createdAt } = row
  if (email === null) return undefined
  return {
    id,
    email,
    firstName,
    lastName,
    phone,
    createdAt: createdAt ?? 0,
    metadata: metadata === null ? {} : JSON.parse(metadata),
  }
}

/** What the walks of some runs of an account need to know, read with a query each for all of them. */
export interface WalkSurroundings {
  /** False: so many events have come since these runs began that fewer runs must be looked at together. */
  complete: boolean
  events: ReadonlyMap<number, StoredEvent>
  departed(contact: RunContact): Departure | undefined
  nextEvent(contactId: string, name: string, after: number): StoredEvent | undefined
  mail: Engagements
  optedOut(contact: RunContact, topicId: string): boolean
}

/**
 * All that the walks of a batch need, in a few queries and not in a few for each run: 200 runs are
 * due at once when a delay of a campaign's list ends.
 */
export async function readSurroundings(
  read: Read,
  accountId: string,
  runs: readonly DueRun[],
): Promise<WalkSurroundings> {
  const addresses = runs.flatMap(({ contact }) => (contact === undefined ? [] : [contact.email]))
  const events = await eventsById(
    read,
    runs.flatMap(({ row }) => eventsOf(row)),
  )
  const reasons = await reasonsOf(read, accountId, addresses)
  // A run that is looked at alone is always complete.
  const limit = runs.length > 1 ? eventsTogether : Number.MAX_SAFE_INTEGER
  const { later, complete } = await laterEvents(read, runs, limit)
  const mail = await readEngagement(read, runs)
  const left = await leftTopics(read, accountId, runs, addresses)
  return {
    complete,
    events,
    departed: ({ email }) => departureOf(reasons, email),
    nextEvent: (contactId, name, after) =>
      later.get(`${contactId} ${name}`)?.find(({ id }) => id > after),
    mail,
    optedOut: ({ email }, topicId) => left.get(topicId.toLowerCase())?.has(email) ?? false,
  }
}

/** With an empty list a query would still cost something. */
async function reasonsOf(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<Map<string, Set<SuppressionReason>>> {
  return addresses.length === 0 ? new Map() : await suppressionsAmong(read, accountId, addresses)
}

/** Events of the names that a run may wait for, those after its trigger, in order. */
async function laterEvents(
  read: Read,
  runs: readonly DueRun[],
  limit: number,
): Promise<{ later: Map<string, StoredEvent[]>; complete: boolean }> {
  // Looked up once for all runs of a contact: 200 of them would read 500 events of 16 KiB 200 times.
  const wanted = new Map<string, [contactId: string, name: string, after: number]>()
  for (const { row, version } of runs) {
    for (const name of version.waitsFor) {
      const key = `${row.contact_id} ${name}`
      const after = wanted.get(key)?.[2] ?? row.trigger_event
      wanted.set(key, [row.contact_id, name, Math.min(after, row.trigger_event)])
    }
  }
  const later = new Map<string, StoredEvent[]>()
  if (wanted.size === 0) return { later, complete: true }
  const rows = await eventsAfter(read, { json: JSON.stringify([...wanted.values()]), limit })
  for (const row of rows) {
    const key = `${row.contactId} ${row.name}`
    const events = later.get(key) ?? []
    events.push(toEvent(row))
    later.set(key, events)
  }
  return { later, complete: rows.length !== limit }
}

// Events that are read together. Each has up to 16 KiB: more of them would be too much for the
// engine's thread.
const eventsTogether = 2_000

/**
 * The events of each contact under a name that came after the last one its run has seen. The limit
 * keeps one busy contact from filling the memory; the caller then reads that run alone.
 */
const eventsAfter = prepared<{ json: string; limit: number }, EventColumns & { contactId: string }>(
  (db, { json, limit }) =>
    db
      .selectFrom(rowsOf(json))
      .innerJoin('automation_events as events', (join) =>
        join
          .on('events.contact_id', '=', cell(0, 'text'))
          .on('events.name', '=', cell(1, 'text'))
          .on('events.id', '>', cell(2, 'integer')),
      )
      .select(['events.id', 'name', 'payload', 'at', 'contact_id as contactId'])
      .orderBy('events.id')
      .limit(limit),
)

/** By topic and not by run: versions have few topics, batches many runs. */
async function leftTopics(
  read: Read,
  accountId: string,
  runs: readonly DueRun[],
  addresses: readonly string[],
): Promise<Map<string, Set<string>>> {
  const topics = new Set(runs.flatMap(({ version }) => version.topics))
  const left = new Map<string, Set<string>>()
  for (const topicId of topics) {
    left.set(topicId, await optedOutAmong(read, accountId, topicId, addresses))
  }
  return left
}
