import { contactsCsv, contactsHead, type MemberPage, membersAmong } from '../contacts/index.js'
import { cursorOf, idInCursor, type Read } from '../store/index.js'
import { requireSegment } from './segment.js'

/** A page of a segment's people, newest contact first. Throws a 404. */
export async function segmentMembers(
  read: Read,
  accountId: string,
  segmentId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<MemberPage> {
  const { id } = await requireSegment(read, accountId, segmentId)
  return await pageOf(read, accountId, id, { limit, cursor })
}

async function pageOf(
  read: Read,
  accountId: string,
  id: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<MemberPage> {
  const scope = `segment ${id}`
  const rows = await read
    .selectFrom('segment_members')
    .select('contact_id')
    .where('segment_id', '=', id)
    .$if(cursor !== undefined, (query) =>
      query.where('contact_id', '<', idInCursor(cursor ?? '', scope)),
    )
    .orderBy('contact_id', 'desc')
    .limit(limit + 1)
    .execute()
  const ids = rows.slice(0, limit).map((row) => row.contact_id)
  const last = ids.at(-1)
  return {
    members: await membersAmong(read, accountId, ids),
    nextCursor: rows.length > limit && last !== undefined ? cursorOf(last, scope) : null,
  }
}

// How many people an export reads at once.
const perSlice = 500

/** The people of an existing segment as CSV, in the form of `exportContacts`; it ends if the segment is deleted. */
export async function* exportSegment(
  read: Read,
  accountId: string,
  segmentId: string,
): AsyncGenerator<string> {
  yield contactsHead()
  for (let cursor: string | undefined; ; ) {
    const page: MemberPage = await pageOf(read, accountId, segmentId, { limit: perSlice, cursor })
    yield contactsCsv(page.members)
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}
