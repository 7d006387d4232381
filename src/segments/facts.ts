import { isoTime } from '../clock/index.js'
import type { Json } from '../json/index.js'
import { addressKey } from '../mime/index.js'
import { durationMs, type Rule, type RuleFacts } from '../rules/index.js'
import { type ContactRow, idsIn, type Read, storedObject } from '../store/index.js'
import { type SuppressionReason, strength, suppressionsAmong } from '../suppression/index.js'
import { namedIn, untouched } from './fields.js'

/** What a segment's rule is judged by, and more that the segment tells of somebody. */
export interface PersonFacts extends RuleFacts {
  contact: ContactRow
  /** The strongest reason for which they are not mailed; null: they are. */
  why: SuppressionReason | null
  /** When the first of the events that are counted is older than the duration; undefined: none is counted. */
  countsUntil(name: string, since: string): number | undefined
  /** The segments that they are in, which rules of others may ask for; may be changed. */
  inSegments: Set<string>
}

/** Some contacts, by their ids. */
interface Among {
  read: Read
  ids: readonly string[]
}

interface Loading extends Among {
  now: number
}

/** The facts about some of an account's contacts, as far as these rules ask for them: some queries, whoever they are. */
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
  const loading = { read, ids: contacts.map(({ id }) => id), now }
  const addresses = contacts.map(({ address }) => address)
  const [reasons, lists, topics, engaged, events, segments, campaigns] = await Promise.all([
    suppressionsAmong(read, accountId, addresses),
    listsOf(loading, of('list')),
    topicsOf(loading, accountId, addresses, of('topic')),
    named.has('engagement') ? engagementsOf(loading) : new Map<string, Record<string, Json>>(),
    eventsOf(loading, of('event')),
    segmentsOf(loading, of('segment')),
    campaignsOf(loading, of('broadcast')),
  ])
  return contacts.map((contact): PersonFacts => {
    const why = strength.find((one) => reasons.get(addressKey(contact.email))?.has(one)) ?? null
    const inSegments = segments.get(contact.id) ?? new Set<string>()
    const shown = shownOf(contact)
    const timesOf = (name: string, since: string | undefined) => {
      const all = events.get(contact.id)?.get(name) ?? []
      const backMs = since === undefined ? undefined : durationMs(since)
      return backMs === undefined ? all : all.filter((at) => at > now - backMs)
    }
    return {
      contact,
      why,
      inSegments,
      now,
      countsUntil: (name, since) => {
        const first = timesOf(name, since)[0]
        return first === undefined ? undefined : first + (durationMs(since) ?? 0)
      },
      field: (path, since) => {
        const [root = '', key = '', ...rest] = path.split('.')
        const id = key.toLowerCase()
        if (root === 'mailable') return why === null
        if (root === 'contact') return within(shown, [key, ...rest])
        if (root === 'topic') return topics.has(`${contact.address} ${id}`)
        if (root === 'segment') return inSegments.has(id)
        if (root === 'broadcast')
          return { ...untouched, ...campaigns.get(`${contact.id} ${id}`) }[rest.join('.')]
        if (root === 'event') return timesOf(path.slice('event.'.length), since).length
        if (root === 'engagement') return engaged.get(contact.id)?.[key] ?? missing[key]
        if (root !== 'list') return undefined
        const joined = lists.get(`${contact.id} ${id}`)
        return rest.length > 0 ? joined && isoTime(joined) : joined !== undefined
      },
    }
  })
}

// Who got nothing yet was sent no mail; there is no time of the last one.
const missing: Readonly<Record<string, Json>> = { sent: 0, opened: 0, clicked: 0 }

const shownOf = (row: ContactRow): Record<string, Json> => ({
  id: row.id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  phone: row.phone,
  metadata: storedObject(row.metadata) as Record<string, Json>,
  createdAt: isoTime(row.created_at),
})

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

/** When each of them joined each list: by both ids. */
async function listsOf({ read, ids }: Loading, listIds: readonly string[]) {
  if (listIds.length === 0) return new Map<string, number>()
  const rows = await read
    .selectFrom('list_members')
    .innerJoin('contact_lists', 'contact_lists.id', 'list_members.list_id')
    .select(['list_id', 'contact_id', 'added_at'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('list_id', 'in', idsIn(listIds, 'text'))
    .where('deleted_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [`${row.contact_id} ${row.list_id}`, row.added_at]))
}

/** Which topics they have left: address and topic. */
async function topicsOf(
  { read }: Loading,
  accountId: string,
  addresses: readonly string[],
  topicIds: readonly string[],
) {
  if (topicIds.length === 0) return new Set<string>()
  const rows = await read
    .selectFrom('topic_opt_outs')
    .select(['address', 'topic_id'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsIn(addresses, 'text'))
    .where('topic_id', 'in', idsIn(topicIds, 'text'))
    .execute()
  return new Set(rows.map((row) => `${row.address} ${row.topic_id}`))
}

async function engagementsOf({ read, ids }: Loading) {
  const rows = await read
    .selectFrom('contact_engagement')
    .selectAll()
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Map(
    rows.map((row): [string, Record<string, Json>] => [
      row.contact_id,
      {
        sent: row.sent,
        opened: row.opened,
        clicked: row.clicked,
        ...timeAs('lastSentAt', row.last_sent_at),
        ...timeAs('lastOpenedAt', row.last_opened_at),
        ...timeAs('lastClickedAt', row.last_clicked_at),
      },
    ]),
  )
}

const timeAs = (name: string, at: number | null) => (at === null ? {} : { [name]: isoTime(at) })

/** The times at which events of these names came, the oldest first; as many as are kept of each. */
async function eventsOf({ read, ids }: Loading, names: readonly string[]) {
  const known = new Map<string, Map<string, number[]>>()
  if (names.length === 0) return known
  const rows = await read
    .selectFrom('automation_events')
    .select(['contact_id', 'name', 'at'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('name', 'in', idsIn(names, 'text'))
    .orderBy('at')
    .execute()
  for (const { contact_id, name, at } of rows) {
    const theirs = known.get(contact_id) ?? new Map<string, number[]>()
    known.set(contact_id, theirs)
    theirs.set(name, [...(theirs.get(name) ?? []), at])
  }
  return known
}

export async function segmentsOf({ read, ids }: Among, segmentIds: readonly string[]) {
  const known = new Map<string, Set<string>>()
  if (segmentIds.length === 0) return known
  const rows = await read
    .selectFrom('segment_members')
    .select(['segment_id', 'contact_id'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('segment_id', 'in', idsIn(segmentIds, 'text'))
    .execute()
  for (const { segment_id, contact_id } of rows) {
    known.set(contact_id, (known.get(contact_id) ?? new Set()).add(segment_id))
  }
  return known
}

/** What they did with each of these campaigns: contact and campaign. */
export async function campaignsOf({ read, ids }: Among, broadcastIds: readonly string[]) {
  if (broadcastIds.length === 0) return new Map<string, Record<string, Json>>()
  const rows = await read
    .selectFrom('broadcast_people')
    .select(['contact_id', 'broadcast_id', 'opened_at', 'clicked_at'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('broadcast_id', 'in', idsIn(broadcastIds, 'text'))
    .execute()
  return new Map(
    rows.map((row): [string, Record<string, Json>] => [
      `${row.contact_id} ${row.broadcast_id}`,
      {
        opened: row.opened_at !== null,
        clicked: row.clicked_at !== null,
        ...timeAs('openedAt', row.opened_at),
        ...timeAs('clickedAt', row.clicked_at),
      },
    ]),
  )
}
