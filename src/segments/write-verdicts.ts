import { markChanged } from '../changes/index.js'
import { idsIn, prepared, preparedInsertAll, type SegmentRow, type Tx } from '../store/index.js'
import { type SegmentMove, writeMembers } from './write-members.js'

/** What some contacts' judgement by some segments came to. */
export interface SegmentVerdicts {
  segments: readonly SegmentRow[]
  /** Those of them whose rules speak of time. */
  timed: ReadonlySet<string>
  /** With the last write of a look alone, as are `gone` and `due`. */
  contactIds: readonly string[]
  /** Contacts who are deleted. */
  gone: readonly string[]
  moves: readonly SegmentMove[]
  /** When a rule may come out otherwise for somebody by time alone. */
  due: readonly { segment: SegmentRow; contactId: string; at: number }[]
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

export interface Written {
  accountId: string
  now: number
  /** They are looked at because a time came, which is over whatever the rule is by now. */
  isDue?: boolean | undefined
  /** The last mark that the verdicts know of; all up to it go. */
  changesUpTo?: number | undefined
  /** These segments are being filled, and are so up to this contact; null: they are full. */
  filledUpTo?: string | null | undefined
}

/** What is there of a segment when verdicts of it are written. */
type Current = Pick<SegmentRow, 'id' | 'name' | 'state' | 'cursor' | 'revision' | 'depth' | 'as_of'>

/** Writes verdicts of segments that are still of the rule by which they were made, with the counters. */
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
  // Others were judged by what is not written.
  const isStaleAsked = verdicts.segments.some(
    ({ id, depth }) => current.has(id) && !isFresh.has(id) && depth < deepest,
  )
  if (isStaleAsked) await markChanged(tx, accountId, verdicts.contactIds)
  const moves = verdicts.moves.filter(
    ({ segment, isGone }) => isFresh.has(segment.id) || (isGone && current.has(segment.id)),
  )
  await writeMembers(tx, moves, now)
  const news = newsOf(moves)
  // Segments that ask for one are looked at again; whoever was judged with it has the same answer.
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

/** When each of them is to be looked at again, instead of when they were. */
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
  // A rule that does not speak of time has none, unless an older one of that segment did.
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

/** How far segments are filled, as far as nobody has begun them anew since. */
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
