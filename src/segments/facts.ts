import { isoTime } from '../clock/index.js'
import type { Json } from '../json/index.js'
import { comparisonsOf, durationMs, type Rule, type RuleFacts } from '../rules/index.js'
import { type ContactRow, type Read, storedObject } from '../store/index.js'
import { type SuppressionReason, strength, suppressionsAmong } from '../suppression/index.js'
import { namedIn, pathsIn, untouched } from './fields.js'
import {
  campaignsOf,
  engagementsOf,
  eventsOf,
  listsOf,
  segmentsOf,
  topicsOf,
} from './read-facts.js'

/** The facts that a segment's rule is judged on, and more that the segment shows of a person. */
export interface PersonFacts extends RuleFacts {
  contact: ContactRow
  /** The strongest reason for which they are not mailed; null: they are. */
  why: SuppressionReason | null
  /** When the first of the counted events becomes older than the duration; undefined: none is counted. */
  countsUntil(name: string, since: string): number | undefined
  /** The segments that they are in, for which rules of others may ask; the judge may change it. */
  inSegments: Set<string>
}

/**
 * The facts about some of an account's contacts for which these rules ask. The number of queries does not depend on who
 * they are.
 */
export async function loadFacts(
  read: Read,
  accountId: string,
  contacts: readonly ContactRow[],
  { rules, now }: { rules: readonly Rule[]; now: number },
): Promise<PersonFacts[]> {
  const named = new Map<string, Set<string>>()
  for (const rule of rules) {
    for (const [root, keys] of namedIn(rule)) {
      named.set(root, new Set([...(named.get(root) ?? []), ...keys]))
    }
  }
  const of = (root: string) => [...(named.get(root) ?? [])]
  const loading = { read, ids: contacts.map(({ id }) => id) }
  const addresses = contacts.map(({ address }) => address)
  const [reasons, lists, topics, engaged, events, segments, campaigns] = await Promise.all([
    suppressionsAmong(read, accountId, addresses),
    listsOf(loading, of('list')),
    topicsOf(loading, accountId, addresses, of('topic')),
    named.has('engagement') ? engagementsOf(loading) : new Map<string, Record<string, Json>>(),
    eventsOf(loading, of('event')),
    segmentsOf(loading, of('segment')),
    campaignsOf(loading, of('broadcast'), lastNames(rules)),
  ])
  const tables = { lists, topics, engaged, events, campaigns, now }
  // Each path is parsed once for all people.
  const readers = new Map<string, FactReader>()
  const readerOf = (path: string) => {
    const reader = readers.get(path) ?? readerFor(path, tables)
    readers.set(path, reader)
    return reader
  }
  return contacts.map((contact): PersonFacts => {
    const reason = reasons.get(contact.address)
    const why = reason === undefined ? null : (strength.find((one) => reason.has(one)) ?? null)
    const inSegments = segments.get(contact.id) ?? new Set<string>()
    const person: LoadedPerson = { contact, why, inSegments, metadata: undefined }
    return {
      contact,
      why,
      inSegments,
      now,
      countsUntil: (name, since) => {
        const first = timesSince(tables, contact.id, name, since)[0]
        return first === undefined ? undefined : first + (durationMs(since) ?? 0)
      },
      field: (path, since) => readerOf(path)(person, since),
    }
  })
}

/** The last parts of the names of campaign fields that rules ask for. */
const lastNames = (rules: readonly Rule[]): ReadonlySet<string> =>
  new Set(
    rules
      .flatMap(comparisonsOf)
      .flatMap(pathsIn)
      .filter((path) => path.startsWith('broadcast.'))
      .map((path) => path.slice(path.lastIndexOf('.') + 1)),
  )

interface LoadedPerson {
  contact: ContactRow
  why: SuppressionReason | null
  inSegments: Set<string>
  /** Read when it is first asked for. */
  metadata: Json | undefined
}

/** What was read about all of them. */
interface LoadedTables {
  lists: ReadonlyMap<string, ReadonlyMap<string, number>>
  topics: ReadonlySet<string>
  engaged: ReadonlyMap<string, Record<string, Json>>
  events: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>
  campaigns: ReadonlyMap<string, Record<string, Json>>
  now: number
}

/** Reads a field of a person; see `RuleFacts`. */
type FactReader = (person: LoadedPerson, since?: string) => Json | undefined

function readerFor(path: string, tables: LoadedTables): FactReader {
  const [root = '', key = '', ...rest] = path.split('.')
  const id = key.toLowerCase()
  const last = rest.join('.')
  switch (root) {
    case 'mailable':
      return ({ why }) => why === null
    case 'contact':
      return contactReader(key, rest)
    case 'topic':
      return ({ contact }) => tables.topics.has(`${contact.address} ${id}`)
    case 'segment':
      return ({ inSegments }) => inSegments.has(id)
    case 'broadcast': {
      const { campaigns } = tables
      return ({ contact }) => ({ ...untouched, ...campaigns.get(`${contact.id} ${id}`) })[last]
    }
    case 'event': {
      const name = path.slice('event.'.length)
      return ({ contact }, since) => timesSince(tables, contact.id, name, since).length
    }
    case 'engagement':
      return ({ contact }) => tables.engaged.get(contact.id)?.[key] ?? missing[key]
    case 'list': {
      const joined = tables.lists.get(id)
      if (last === '') return ({ contact }) => joined?.has(contact.id) === true
      return ({ contact }) => {
        const at = joined?.get(contact.id)
        return at === undefined ? undefined : isoTime(at)
      }
    }
  }
  return () => undefined
}

function contactReader(key: string, rest: readonly string[]): FactReader {
  if (key === 'metadata') {
    return (person) => {
      person.metadata ??= storedObject<Json>(person.contact.metadata)
      return within(person.metadata, rest)
    }
  }
  const field = Object.hasOwn(contactFields, key) ? contactFields[key] : undefined
  return field === undefined ? () => undefined : ({ contact }) => within(field(contact), rest)
}

const contactFields: Readonly<Record<string, (row: ContactRow) => Json>> = {
  id: (row) => row.id,
  email: (row) => row.email,
  firstName: (row) => row.first_name,
  lastName: (row) => row.last_name,
  phone: (row) => row.phone,
  createdAt: (row) => isoTime(row.created_at),
}

/** When a contact's events of a name came, within a duration until now. */
function timesSince(
  { events, now }: LoadedTables,
  contactId: string,
  name: string,
  since: string | undefined,
): readonly number[] {
  const all = events.get(contactId)?.get(name) ?? []
  const backMs = since === undefined ? undefined : durationMs(since)
  return backMs === undefined ? all : all.filter((at) => at > now - backMs)
}

// A person who has got nothing yet was sent 0 mails; there is no time of a last one.
const missing: Readonly<Record<string, Json>> = { sent: 0, opened: 0, clicked: 0 }

/** Own properties only: no path reaches a prototype. */
function within(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(name) ? at[Number(name)] : undefined
    else at = Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}
