import { markChanged } from '../changes/index.js'
import { idsIn, prepared, preparedInsertAll, type SegmentRow, type Tx } from '../store/index.js'
import { type SegmentMove, writeMembers } from './write-members.js'

/** The verdicts of some segments about some contacts. */
export interface SegmentVerdicts {
  segments: readonly SegmentRow[]
  /** The segments whose rules depend on time. */
  timed: ReadonlySet<string>
  /** Given only with the last write of a look, as are `gone` and `due`. */
  contactIds: readonly string[]
  /** Deleted contacts. */
  gone: readonly string[]
  moves: readonly SegmentMove[]
  /** When a rule's verdict about a person may change by time alone. */
  due: readonly { segment: SegmentRow; contactId: string; at: number }[]
}

/** People who have come into a segment or left it; not reported while a segment is being filled. */
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

export interface Written {
  accountId: string
  now: number
  /** The contacts are looked at because a time came; that time is over, whatever the rule is by now. */
  isDue?: boolean | undefined
  /** The last mark that the verdicts include; all marks up to it are deleted. */
  changesUpTo?: number | undefined
  /** These segments are being filled, and have reached this contact; null: they are full. */
  filledUpTo?: string | null | undefined
}

/** The present state of a segment when its verdicts are written. */
type Current = Pick<SegmentRow, 'id' | 'name' | 'state' | 'cursor' | 'revision' | 'depth' | 'as_of'>

/** Writes the verdicts of segments that still have the judged rule, with the counters. */
export async function writeVerdicts(
  tx: Tx,
  verdicts: SegmentVerdicts,
  { accountId, now, changesUpTo, filledUpTo, isDue = false }: Written,
  follow?: FollowSegments,
): Promise<void> {
  const rows = await currentSegments(tx, { accountId })
  const current = new Map(rows.map((row) => [row.id, row]))
  const deepest = Math.max(...rows.map(({ depth }) => depth))
  const fresh = verdicts.segments.flatMap((segment) => {
    const row = current.get(segment.id)
    return row?.revision === segment.revision ? [row] : []
  })
  const isFresh = new Set(fresh.map(({ id }) => id))
  // Other segments were judged by verdicts that are not written.
  const isStaleAsked = verdicts.segments.some(
    ({ id, depth }) => current.has(id) && !isFresh.has(id) && depth < deepest,
  )
  if (isStaleAsked) await markChanged(tx, accountId, verdicts.contactIds)
  const moves = verdicts.moves.filter(
    ({ segment, isGone }) => isFresh.has(segment.id) || (isGone && current.has(segment.id)),
  )
  await writeMembers(tx, moves, now)
  const news = newsOf(moves)
  // Segments that ask for a changed one are looked at again; contacts judged together with it already have the right
  // answer.
  for (const { segment, joined, left } of news) {
    const isAskedFor = (current.get(segment.id)?.depth ?? 0) < deepest
    if (isAskedFor) await markChanged(tx, accountId, [...joined, ...left])
  }
  await writeDue(tx, verdicts, { current, fresh, isDue })
  const asOf = fresh.filter((row) => row.as_of !== now).map(({ id }) => id)
  if (asOf.length > 0) {
    const lookedAt = tx.updateTable('segments').set({ as_of: now })
    await lookedAt.where('id', 'in', idsIn(asOf, 'text')).execute()
  }
  if (filledUpTo !== undefined) await writeFilled(tx, verdicts.segments, { fresh, filledUpTo })
  if (changesUpTo !== undefined) await takeMarks(tx, { accountId, changesUpTo })
  const told = news.filter(({ segment }) => current.get(segment.id)?.state === 'current')
  if (told.length > 0) await follow?.(tx, accountId, told, now)
}

const currentSegments = prepared<{ accountId: string }, Current>((db, { accountId }) =>
  db
    .selectFrom('segments')
    .select(['id', 'name', 'state', 'cursor', 'revision', 'depth', 'as_of'])
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted'),
)

const takeMarks = prepared<{ accountId: string; changesUpTo: number }, unknown>(
  (db, { accountId, changesUpTo }) =>
    db
      .deleteFrom('segment_changes')
      .where('account_id', '=', accountId)
      .where('id', '<=', changesUpTo),
)

function newsOf(moves: readonly SegmentMove[]) {
  const bySegment = new Map<string, SegmentNews & { joined: string[]; left: string[] }>()
  for (const { segment, contactId, was, is } of moves) {
    if ((was === undefined) === (is === undefined)) continue
    const news = bySegment.get(segment.id) ?? { segment, joined: [], left: [] }
    bySegment.set(segment.id, news)
    if (was === undefined) news.joined.push(contactId)
    else news.left.push(contactId)
  }
  return [...bySegment.values()]
}

/** Replaces the times at which each contact is to be looked at again. */
async function writeDue(
  tx: Tx,
  { segments, timed, contactIds, gone, due }: SegmentVerdicts,
  {
    current,
    fresh,
    isDue,
  }: { current: ReadonlyMap<string, Current>; fresh: readonly Current[]; isDue: boolean },
): Promise<void> {
  const take = async (of: readonly { id: string }[], ids: readonly string[]) => {
    if (of.length === 0 || ids.length === 0) return
    const segmentIds = of.map(({ id }) => id)
    await tx
      .deleteFrom('segment_due')
      .where('segment_id', 'in', idsIn(segmentIds, 'text'))
      .where('contact_id', 'in', idsIn(ids, 'text'))
      .execute()
  }
  // A rule that does not depend on time has no such rows, unless an older rule of that segment did.
  const mayHave = fresh.filter(
    (row) => isDue || (row.state === 'filling' && row.revision > 0) || timed.has(row.id),
  )
  await take(mayHave, contactIds)
  await take(
    segments.filter(({ id }) => current.has(id)),
    gone,
  )
  const isFresh = new Set(fresh.map(({ id }) => id))
  const rows = due
    .filter(({ segment }) => isFresh.has(segment.id))
    .map(({ segment, contactId, at }) => ({ at, segment_id: segment.id, contact_id: contactId }))
  await addDue(tx, rows)
}

const addDue = preparedInsertAll('segment_due')

/** Writes how far segments are filled, unless somebody has begun them anew since. */
async function writeFilled(
  tx: Tx,
  segments: readonly SegmentRow[],
  { fresh, filledUpTo }: { fresh: readonly Current[]; filledUpTo: string | null },
): Promise<void> {
  const cursors = new Map(segments.map(({ id, cursor }) => [id, cursor]))
  const moved = fresh.filter(
    ({ id, cursor, state }) => state === 'filling' && cursor === cursors.get(id),
  )
  const filled = {
    cursor: filledUpTo ?? '',
    state: filledUpTo === null ? 'current' : 'filling',
  } as const
  await tx
    .updateTable('segments')
    .set(filled)
    .where(
      'id',
      'in',
      idsIn(
        moved.map(({ id }) => id),
        'text',
      ),
    )
    .execute()
}
