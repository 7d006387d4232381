import { type ContactRow, idsIn, likeAnyCase, prepared, type Read } from '../store/index.js'
import { contactsALook, type SegmentLook } from './judging.js'
import { waitingForMailed } from './mailed.js'
import { ruleOfRow } from './segment.js'

/** What comes next in filling segments: contacts, and the segments that have all come equally far. */
export interface Filling extends SegmentLook {
  accountId: string
}

/**
 * The next contacts for a segment that is being filled, and for all segments of its account with the same depth and
 * progress. Segments for which others ask come first. They go by the contacts' ids, the order of the members too.
 * `passed`: accounts that wait. Segments that ask who got a campaign wait until that is looked up.
 */
export async function nextToFill(
  read: Read,
  passed: readonly string[],
): Promise<Filling | undefined> {
  const filling = await read
    .selectFrom('segments')
    .select(['id', 'rule'])
    .where('state', '=', 'filling')
    // Rules without this text ask for no campaign.
    .where(likeAnyCase('rule', '"broadcast.'))
    .execute()
  const waiting = await waitingForMailed(
    read,
    filling.map((row) => ({ id: row.id, rule: ruleOfRow(row) })),
  )
  const [first] = await read
    .selectFrom('segments')
    .select(['account_id', 'depth', 'cursor'])
    .where('state', '=', 'filling')
    .where('account_id', 'not in', idsIn(passed, 'text'))
    .where('id', 'not in', idsIn(waiting, 'text'))
    .orderBy('depth')
    .orderBy('id')
    .limit(1)
    .execute()
  if (first === undefined) return undefined
  const { account_id: accountId, depth, cursor } = first
  const segments = await read
    .selectFrom('segments')
    .selectAll()
    .where('state', '=', 'filling')
    .where('account_id', '=', accountId)
    .where('depth', '=', depth)
    .where('cursor', '=', cursor)
    .where('id', 'not in', idsIn(waiting, 'text'))
    .execute()
  const limit = contactsALook(segments.length)
  const contacts = await contactsAfter(read, { accountId, cursor, limit })
  const last = contacts.at(-1)
  const filledUpTo = last === undefined || contacts.length < limit ? null : last.id
  return { accountId, segments, contacts, filledUpTo }
}

const contactsAfter = prepared<{ accountId: string; cursor: string; limit: number }, ContactRow>(
  (db, { accountId, cursor, limit }) =>
    db
      .selectFrom('contacts')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '>', cursor)
      .orderBy('id')
      .limit(limit),
)
