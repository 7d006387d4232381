import { isoTime } from '../clock/index.js'
import type { Json } from '../json/index.js'
import { idsIn, type Read } from '../store/index.js'

/** Some contacts, by their ids. */
interface Among {
  read: Read
  ids: readonly string[]
}

/** When each of them joined each list: by list, then by contact. */
export async function listsOf({ read, ids }: Among, listIds: readonly string[]) {
  const joined = new Map<string, Map<string, number>>()
  if (listIds.length === 0) return joined
  const rows = await read
    .selectFrom('list_members')
    .innerJoin('contact_lists', 'contact_lists.id', 'list_members.list_id')
    .select(['list_id', 'contact_id', 'added_at'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('list_id', 'in', idsIn(listIds, 'text'))
    .where('deleted_at', 'is', null)
    .execute()
  for (const { list_id, contact_id, added_at } of rows) {
    const theirs = joined.get(list_id) ?? new Map<string, number>()
    joined.set(list_id, theirs.set(contact_id, added_at))
  }
  return joined
}

/** Which topics they have left, as address and topic. */
export async function topicsOf(
  { read }: Among,
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

export async function engagementsOf({ read, ids }: Among) {
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

/** When events of these names came, the oldest first; as many as are kept of each. */
export async function eventsOf({ read, ids }: Among, names: readonly string[]) {
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

/**
 * What they did with each of these campaigns, by contact and campaign. `asked`: fields that cost a query of their own.
 */
export async function campaignsOf(
  { read, ids }: Among,
  broadcastIds: readonly string[],
  asked: ReadonlySet<string> = new Set(),
) {
  if (broadcastIds.length === 0) return new Map<string, Record<string, Json>>()
  const among = { read, ids, broadcastIds }
  const versions = asked.has('variant') ? await versionsOf(among) : new Map<string, string>()
  const links = asked.has('links') ? await linksOf(among) : new Map<string, number[]>()
  const rows = await read
    .selectFrom('broadcast_people')
    .leftJoin('broadcast_bounces', (join) =>
      join
        .onRef('broadcast_bounces.broadcast_id', '=', 'broadcast_people.broadcast_id')
        .onRef('broadcast_bounces.number', '=', 'broadcast_people.bounce'),
    )
    .select(['contact_id', 'broadcast_people.broadcast_id', 'opened_at', 'clicked_at'])
    .select(['taken_at', 'unreached_at', 'broadcast_bounces.kind', 'left_at', 'complained_at'])
    .select(['provider', 'bounce', 'why_left'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('broadcast_people.broadcast_id', 'in', idsIn(broadcastIds, 'text'))
    .execute()
  return new Map(
    rows.map((row): [string, Record<string, Json>] => [
      `${row.contact_id} ${row.broadcast_id}`,
      {
        // Nothing was sent to people who were left out; a late report takes the delivery back.
        sent: row.taken_at !== null || (row.unreached_at !== null && row.kind !== 'suppressed'),
        delivered: row.taken_at !== null && row.unreached_at === null,
        opened: row.opened_at !== null,
        clicked: row.clicked_at !== null,
        left: row.left_at !== null,
        complained: row.complained_at !== null,
        unreached: row.unreached_at !== null,
        variant: versions.get(`${row.contact_id} ${row.broadcast_id}`) ?? null,
        links: links.get(`${row.contact_id} ${row.broadcast_id}`) ?? [],
        provider: row.provider,
        reason: row.unreached_at === null ? null : row.bounce,
        unreachedAs: row.unreached_at === null ? null : row.kind,
        whyLeft: row.why_left,
        ...timeAs('openedAt', row.opened_at),
        ...timeAs('clickedAt', row.clicked_at),
      },
    ]),
  )
}

interface AmongCampaigns extends Among {
  broadcastIds: readonly string[]
}

/** Which version of each campaign they got. */
async function versionsOf({ read, ids, broadcastIds }: AmongCampaigns) {
  const rows = await read
    .selectFrom('broadcast_people')
    .innerJoin('emails', 'emails.id', 'broadcast_people.email_id')
    .select(['contact_id', 'broadcast_people.broadcast_id', 'variant'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('broadcast_people.broadcast_id', 'in', idsIn(broadcastIds, 'text'))
    .where('variant', 'is not', null)
    .execute()
  return new Map(rows.map((row) => [`${row.contact_id} ${row.broadcast_id}`, row.variant ?? '']))
}

/** The numbers of the links of each campaign that they clicked. */
async function linksOf({ read, ids, broadcastIds }: AmongCampaigns) {
  const rows = await read
    .selectFrom('broadcast_link_people')
    .select(['contact_id', 'broadcast_id', 'link'])
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('broadcast_id', 'in', idsIn(broadcastIds, 'text'))
    .execute()
  const known = new Map<string, number[]>()
  for (const { contact_id, broadcast_id, link } of rows) {
    const place = `${contact_id} ${broadcast_id}`
    known.set(place, [...(known.get(place) ?? []), link])
  }
  return known
}
