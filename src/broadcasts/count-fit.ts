import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { requireList } from '../contacts/index.js'
import { requireSegment } from '../segments/index.js'
import type { Read } from '../store/index.js'
import { isNobody, type Whom } from './whom.js'

/** A list or a segment of an audience. */
interface Part {
  kind: 'list' | 'segment'
  id: string
}

const sliceId = sql.ref<string>('slice.contact_id')
// A slice takes some milliseconds of SQLite; between slices others have their turn.
const perSlice = 5_000

/**
 * How many people an audience has. Lists and segments have their sizes, so nobody of the largest is read. Of each
 * further one, people who are in none before it are added; of the excluded ones, people who are in any are subtracted.
 */
export async function countFit(
  read: Read,
  { accountId, whom }: { accountId: string; whom: Whom },
): Promise<number> {
  const sized = await Promise.all(
    partsOf(whom.lists, whom.segments).map(async (part) => ({
      part,
      size: await sizeOf(read, accountId, part),
    })),
  )
  sized.sort((a, b) => b.size - a.size)
  const within = sized.map(({ part }) => part)
  const without = partsOf(whom.withoutLists, whom.withoutSegments)
  let fit = sized[0]?.size ?? 0
  if (fit === 0) return 0
  for (const [n, part] of within.entries()) {
    if (n > 0) fit += await countPart(read, part, { notIn: within.slice(0, n) })
  }
  for (const [n, part] of without.entries()) {
    fit -= await countPart(read, part, { inAny: within, notIn: without.slice(0, n) })
  }
  // A size may change while others are read.
  return Math.max(0, fit)
}

const partsOf = (lists: readonly string[], segments: readonly string[]): Part[] => [
  ...lists.map((id): Part => ({ kind: 'list', id })),
  ...segments.map((id): Part => ({ kind: 'segment', id })),
]

const sizeOf = async (read: Read, accountId: string, { kind, id }: Part): Promise<number> =>
  kind === 'list'
    ? (await requireList(read, accountId, id)).contactCount
    : (await requireSegment(read, accountId, id)).count

/**
 * The size of an audience's only list or segment; 0 for nobody, undefined for more than one. Throws a 404 where it was
 * deleted.
 */
export async function sizeOfOnly(
  read: Read,
  accountId: string,
  whom: Whom,
): Promise<number | undefined> {
  if (isNobody(whom)) return 0
  const [part, ...others] = partsOf(
    [...whom.lists, ...whom.withoutLists],
    [...whom.segments, ...whom.withoutSegments],
  )
  return part === undefined || others.length > 0 ? undefined : await sizeOf(read, accountId, part)
}

/** Counts the people of a part who are in one of some others, or in none. */
async function countPart(
  read: Read,
  part: Part,
  { inAny, notIn }: { inAny?: readonly Part[]; notIn: readonly Part[] },
): Promise<number> {
  let count = 0
  for (let after: string | null = ''; after !== null; ) {
    const slice = membersAfter(read, part, after)
    const found: { last: string | null; looked: number; count: number } = await read
      .selectFrom(slice.as('slice'))
      .select(({ fn, exists, or, and, not }) => [
        fn.max('contact_id').as('last'),
        fn.countAll<number>().as('looked'),
        fn
          .countAll<number>()
          .filterWhere(
            and([
              ...(inAny === undefined ? [] : [or(inAny.map((one) => exists(memberOf(read, one))))]),
              ...notIn.map((one) => not(exists(memberOf(read, one)))),
            ]),
          )
          .as('count'),
      ])
      .executeTakeFirstOrThrow()
    count += found.count
    after = found.looked < perSlice ? null : found.last
    await nextTurn()
  }
  return count
}

const membersAfter = (read: Read, { kind, id }: Part, after: string) =>
  kind === 'list'
    ? read
        .selectFrom('list_members')
        .select('contact_id')
        .where('list_id', '=', id)
        .where('contact_id', '>', after)
        .orderBy('contact_id')
        .limit(perSlice)
    : read
        .selectFrom('segment_members')
        .select('contact_id')
        .where('segment_id', '=', id)
        .where('contact_id', '>', after)
        .orderBy('contact_id')
        .limit(perSlice)

/** A search by the whole key. */
const memberOf = (read: Read, { kind, id }: Part) =>
  kind === 'list'
    ? read
        .selectFrom('list_members')
        .select('list_members.contact_id')
        .where('list_members.list_id', '=', id)
        .where('list_members.contact_id', '=', sliceId)
    : read
        .selectFrom('segment_members')
        .select('segment_members.contact_id')
        .where('segment_members.segment_id', '=', id)
        .where('segment_members.contact_id', '=', sliceId)
