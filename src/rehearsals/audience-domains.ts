import { nextTurn } from '../bounded/index.js'
import type { Whom } from '../broadcasts/index.js'
import { requireList } from '../contacts/index.js'
import { requireSegment } from '../segments/index.js'
import type { Read } from '../store/index.js'

// Of a larger list or segment some of each stretch are looked at: to read a million contacts takes seconds.
const mostLooked = 30_000
const perBlock = 300

/**
 * Which part of an audience each recipients' domain has: of each list and segment all, or some in equal steps. Who is left
 * out, or in two of them, is taken to be spread over domains as all are.
 */
export async function domainShares(
  read: Read,
  accountId: string,
  { lists, segments }: Whom,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const id of lists) {
    const { contactCount } = await requireList(read, accountId, id)
    await addPart(
      read,
      { table: 'list_members', column: 'list_id', id, size: contactCount },
      counts,
    )
  }
  for (const id of segments) {
    const { count } = await requireSegment(read, accountId, id)
    await addPart(read, { table: 'segment_members', column: 'segment_id', id, size: count }, counts)
  }
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return new Map([...counts].map(([domain, count]) => [domain, count / Math.max(1, all)]))
}

type Part = { id: string; size: number } & (
  | { table: 'list_members'; column: 'list_id' }
  | { table: 'segment_members'; column: 'segment_id' }
)

/** Counts a part's domains, as many as it has. */
async function addPart(read: Read, part: Part, counts: Map<string, number>): Promise<void> {
  const blocks = Math.max(1, Math.floor(mostLooked / perBlock))
  const skipped = part.size <= mostLooked ? 0 : Math.floor(part.size / blocks) - perBlock
  const seen = new Map<string, number>()
  let looked = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: { id: string; address: string }[] = await membersAfter(read, part, after)
    for (const { address } of rows) {
      const domain = address.slice(address.lastIndexOf('@') + 1)
      seen.set(domain, (seen.get(domain) ?? 0) + 1)
    }
    looked += rows.length
    const last: string | undefined = rows.length < perBlock ? undefined : rows.at(-1)?.id
    after = last === undefined ? undefined : await afterSkipping(read, part, last, skipped)
    // Clients of this thread have their turn.
    await nextTurn()
  }
  const each = looked === 0 ? 0 : part.size / looked
  for (const [domain, count] of seen) counts.set(domain, (counts.get(domain) ?? 0) + count * each)
}

const membersAfter = (read: Read, part: Part, after: string) =>
  part.table === 'list_members'
    ? read
        .selectFrom('list_members')
        .innerJoin('contacts', 'contacts.id', 'contact_id')
        .select(['contact_id as id', 'address'])
        .where('list_id', '=', part.id)
        .where('contact_id', '>', after)
        .orderBy('contact_id')
        .limit(perBlock)
        .execute()
    : read
        .selectFrom('segment_members')
        .innerJoin('contacts', 'contacts.id', 'contact_id')
        .select(['contact_id as id', 'address'])
        .where('segment_id', '=', part.id)
        .where('contact_id', '>', after)
        .orderBy('contact_id')
        .limit(perBlock)
        .execute()

/** So many ids further: along the index alone. Undefined at the end. */
async function afterSkipping(
  read: Read,
  part: Part,
  after: string,
  skipped: number,
): Promise<string | undefined> {
  if (skipped <= 0) return after
  const row =
    part.table === 'list_members'
      ? await read
          .selectFrom('list_members')
          .select('contact_id as id')
          .where('list_id', '=', part.id)
          .where('contact_id', '>', after)
          .orderBy('contact_id')
          .offset(skipped)
          .limit(1)
          .executeTakeFirst()
      : await read
          .selectFrom('segment_members')
          .select('contact_id as id')
          .where('segment_id', '=', part.id)
          .where('contact_id', '>', after)
          .orderBy('contact_id')
          .offset(skipped)
          .limit(1)
          .executeTakeFirst()
  return row?.id
}
