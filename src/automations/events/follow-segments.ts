import type { JsonObject } from '../../json/index.js'
import type { FollowSegments, SegmentNews } from '../../segments/index.js'
import { idsOf, newUuid, prepared } from '../../store/index.js'
import type { RunContact, Versions } from '../definition/index.js'
import { contactColumns, contactOf, type RunContactRow } from '../runs/index.js'
import { ingestEvents } from './ingest.js'
import { type LiveLimit, readListeners } from './listeners.js'
import type { NewEvent } from './store-events.js'

const moves = { joined: '$segment.joined', left: '$segment.left' } as const

/**
 * An effect of segments: automations that begin with `$segment.joined` or `$segment.left` are started, and runs that
 * wait for these hear them, in the transaction that moves somebody. The first filling of a segment starts nothing.
 */
export function makeFollowSegments(versions: Versions, isFull: LiveLimit): FollowSegments {
  return async (tx, accountId, news, now) => {
    const contactIds = [...new Set(news.flatMap(({ joined, left }) => [...joined, ...left]))]
    const isHeard = await readListeners(tx, versions, accountId, {
      contactIds,
      names: Object.values(moves),
    })
    const heard = movesIn(news).filter(({ contactId, name }) => isHeard(contactId, name))
    if (heard.length === 0) return
    const rows = await contactsWith(tx, { accountId, ids: JSON.stringify(contactIds) })
    const contacts = new Map(rows.map((row): [string, RunContact] => [row.id, contactOf(row)]))
    const events = heard.flatMap(({ contactId, name, segment }): NewEvent[] => {
      const contact = contacts.get(contactId)
      // A contact who is deleted leaves as well, but can do nothing any more.
      if (contact === undefined) return []
      const payload: JsonObject = { segmentId: segment.id, segment: segment.name }
      return [{ contact, name, payload: JSON.stringify(payload), depth: 1 }]
    })
    if (events.length === 0) return
    const ids = { uuid: () => newUuid(now) }
    await ingestEvents(
      tx,
      { ids, versions },
      { accountId, now, full: await isFull(tx, now) },
      events,
    )
  }
}

const movesIn = (news: readonly SegmentNews[]) =>
  news.flatMap(({ segment, joined, left }) => [
    ...joined.map((contactId) => ({ contactId, name: moves.joined, segment })),
    ...left.map((contactId) => ({ contactId, name: moves.left, segment })),
  ])

/** `ids`: a JSON array. */
const contactsWith = prepared<{ accountId: string; ids: string }, RunContactRow>(
  (db, { accountId, ids }) =>
    db
      .selectFrom('contacts')
      .select([...contactColumns])
      .where('account_id', '=', accountId)
      .where('id', 'in', idsOf(ids, 'text')),
)
