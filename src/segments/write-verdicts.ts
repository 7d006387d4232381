import { markChanged } from '../changes/index.js'
import { cell, idsIn, rowsOf, type SegmentRow, type Tx } from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { countNameOf } from './count.js'

/** Whether a segment's rule holds for somebody. */
export interface SegmentVerdict {
  segment: SegmentRow
  contactId: string
  holds: boolean
  /** Why they are not mailed; null: they are. */
  why: SuppressionReason | null
  /** When it may come out otherwise by time alone. */
  dueAt: number | undefined
  /** The contact is deleted, whatever the rule is by now. */
  isGone?: true
}

/** Who has come into a segment or left it; not told of while a segment is being filled. */
export interface SegmentNews {
  segment: { id: string; name: string }
  joined: readonly string[]
  left: readonly string[]
}

/** What else happens then, in the same transaction. */
export type FollowSegments = (
  tx: Tx,
  accountId: string,
  news: readonly SegmentNews[],
  now: number,
) => Promise<void>

interface Written {
  accountId: string
  now: number
  /** The last mark that the verdicts know of; all up to it go. */
  changesUpTo?: number | undefined
  /** The segment that is being filled, and up to which address it is; undefined: it is full. */
  filled?: { segment: SegmentRow; cursor: string | undefined } | undefined
}

/** Writes verdicts of segments that are still of the rule by which they were made, with the counters. */
export async function writeVerdicts(
  tx: Tx,
  verdicts: readonly SegmentVerdict[],
  { accountId, now, changesUpTo, filled }: Written,
  follow?: FollowSegments,
): Promise<void> {
  const bySegment = new Map<string, SegmentVerdict[]>()
  for (const verdict of verdicts) {
    const some = bySegment.get(verdict.segment.id) ?? []
    bySegment.set(verdict.segment.id, some)
    some.push(verdict)
  }
  const rows = await tx
    .selectFrom('segments')
    .select(['id', 'name', 'state', 'cursor', 'revision', 'depth'])
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .execute()
  const current = new Map(rows.map((row) => [row.id, row]))
  const news: SegmentNews[] = []
  for (const [id, all] of bySegment) {
    const row = current.get(id)
    if (row === undefined) continue
    const some = all.filter(({ segment, isGone }) => isGone || segment.revision === row.revision)
    const isAskedFor = rows.some((other) => other.depth > row.depth)
    if (some.length < all.length && isAskedFor) {
      // Others were judged by what is not written.
      const ids = all.map(({ contactId }) => contactId)
      await markChanged(tx, accountId, ids)
    }
    if (some.length === 0) continue
    const moved = await writeMembers(tx, row, some, now)
    const ids = [...moved.joined, ...moved.left]
    if (ids.length === 0) continue
    // Segments that ask for this one are looked at again; whoever was judged with it has the same answer.
    if (isAskedFor) await markChanged(tx, accountId, ids)
    if (row.state === 'current') news.push({ segment: row, ...moved })
  }
  const fresh = filled && current.get(filled.segment.id)
  if (filled !== undefined && fresh !== undefined) {
    const { cursor, revision } = filled.segment
    // Somebody may have begun it anew since.
    if (fresh.revision === revision && fresh.cursor === cursor && fresh.state === 'filling') {
      const isFull = filled.cursor === undefined
      await tx
        .updateTable('segments')
        .set({ cursor: filled.cursor ?? '', state: isFull ? 'current' : 'filling', as_of: now })
        .where('id', '=', fresh.id)
        .execute()
    }
  }
  if (changesUpTo !== undefined) {
    await tx
      .deleteFrom('segment_changes')
      .where('account_id', '=', accountId)
      .where('id', '<=', changesUpTo)
      .execute()
  }
  if (news.length > 0) await follow?.(tx, accountId, news, now)
}

/** Who is in a segment now, and was not, and the other way round. */
async function writeMembers(
  tx: Tx,
  row: Pick<SegmentRow, 'id'>,
  verdicts: readonly SegmentVerdict[],
  now: number,
) {
  const ids = verdicts.map(({ contactId }) => contactId)
  const members = await tx
    .selectFrom('segment_members')
    .select(['contact_id', 'why'])
    .where('segment_id', '=', row.id)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  const known = new Map(members.map((one) => [one.contact_id, one.why]))
  const change = { count: 0, unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0 }
  const put: (string | null)[][] = []
  const joined: string[] = []
  const left: string[] = []
  const add = (why: SuppressionReason | null, by: number) => {
    change.count += by
    if (why !== null) change[countNameOf[why]] += by
  }
  for (const { contactId, holds, why } of verdicts) {
    const was = known.get(contactId)
    const isIn = known.has(contactId)
    if (holds && (!isIn || was !== why)) {
      put.push([contactId, why])
      if (isIn) add(was ?? null, -1)
      else joined.push(contactId)
      add(why, 1)
    } else if (!holds && isIn) {
      left.push(contactId)
      add(was ?? null, -1)
    }
  }
  if (put.length > 0) await putMembers(tx, row.id, JSON.stringify(put), now)
  if (left.length > 0) {
    await tx
      .deleteFrom('segment_members')
      .where('segment_id', '=', row.id)
      .where('contact_id', 'in', idsIn(left, 'text'))
      .execute()
  }
  await writeDue(tx, row.id, verdicts)
  await tx
    .updateTable('segments')
    .set((eb) => ({
      count: eb('count', '+', change.count),
      unsubscribed: eb('unsubscribed', '+', change.unsubscribed),
      bounced: eb('bounced', '+', change.bounced),
      complained: eb('complained', '+', change.complained),
      suppressed: eb('suppressed', '+', change.suppressed),
      as_of: now,
    }))
    .where('id', '=', row.id)
    .execute()
  return { joined, left }
}

const putMembers = (tx: Tx, segmentId: string, json: string, now: number) =>
  tx
    .insertInto('segment_members')
    .columns(['segment_id', 'contact_id', 'since', 'why'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          eb.val(segmentId).as('segment_id'),
          cell(0, 'text').as('contact_id'),
          eb.val(now).as('since'),
          cell<SuppressionReason | null>(1, 'text').as('why'),
        ])
        // Without it SQLite takes `on conflict` for a part of the join.
        .where(eb.val(1), '=', 1),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['segment_id', 'contact_id'])
        .doUpdateSet((eb) => ({ why: eb.ref('excluded.why') })),
    )
    .execute()

/** When each of them is to be looked at again, instead of when they were. */
async function writeDue(
  tx: Tx,
  segmentId: string,
  verdicts: readonly SegmentVerdict[],
): Promise<void> {
  const ids = verdicts.map(({ contactId }) => contactId)
  await tx
    .deleteFrom('segment_due')
    .where('segment_id', '=', segmentId)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  const due = verdicts.flatMap(({ contactId, dueAt }) =>
    dueAt === undefined ? [] : [{ at: dueAt, segment_id: segmentId, contact_id: contactId }],
  )
  if (due.length > 0) await tx.insertInto('segment_due').values(due).execute()
}
