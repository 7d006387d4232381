import { nextTurn } from '../bounded/index.js'
import type { Whom } from '../broadcasts/index.js'
import { requireList } from '../contacts/index.js'
import { requireSegment } from '../segments/index.js'
import type { Read } from '../store/index.js'

// Of a larger list or segment only every second, third, … contact is looked at: reading a million takes seconds.
const usuallyLooked = 30_000
const perSlice = 1_000
// In a sample, a smaller number may be wrong by half or by twice.
const leastSeen = 50

/** Which part of an audience has which recipients' domain. */
export interface DomainShares {
  /** Domains that were counted, or seen often enough to be reliable. */
  told: ReadonlyMap<string, number>
  /** Small domains, whose shares are reliable only together. */
  rough: ReadonlyMap<string, number>
}

interface Seen {
  count: number
  /** How many people of the audience they stand for. */
  people: number
}

/**
 * The domains of an audience: all contacts of each list and segment, or a sample in equal steps. People who are left
 * out, or in two of them, are assumed to be spread over domains like the others. `mostLooked`: about how many of a
 * larger list or segment are looked at.
 */
export async function domainShares(
  read: Read,
  accountId: string,
  { lists, segments }: Pick<Whom, 'lists' | 'segments'>,
  mostLooked = usuallyLooked,
): Promise<DomainShares> {
  const parts: Part[] = []
  for (const id of lists) {
    const { contactCount: size } = await requireList(read, accountId, id)
    parts.push({ of: 'list', id, size })
  }
  for (const id of segments) {
    const { count: size } = await requireSegment(read, accountId, id)
    parts.push({ of: 'segment', id, size })
  }
  const seen = new Map<string, Seen>()
  for (const part of parts) {
    const step = Math.max(1, Math.ceil(part.size / mostLooked))
    await addPart(read, part, step, seen)
  }
  const all = [...seen.values()].reduce((sum, { people }) => sum + people, 0)
  const told = new Map<string, number>()
  const rough = new Map<string, number>()
  for (const [domain, { count, people }] of seen) {
    const isSample = people > count
    const shares = isSample && count < leastSeen ? rough : told
    shares.set(domain, people / all)
  }
  return { told, rough }
}

interface Part {
  of: 'list' | 'segment'
  id: string
  size: number
}

/** Counts the domains of a part, by each `step`th of its contacts. */
async function addPart(
  read: Read,
  part: Part,
  step: number,
  seen: Map<string, Seen>,
): Promise<void> {
  const counts = new Map<string, number>()
  let looked = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows = await everyNth(read, part, { after, step })
    for (const { address } of rows) {
      const domain = address.slice(address.lastIndexOf('@') + 1)
      counts.set(domain, (counts.get(domain) ?? 0) + 1)
    }
    looked += rows.length
    after = rows.length < perSlice ? undefined : rows.at(-1)?.id
    // Other clients of this thread have their turn.
    await nextTurn()
  }
  // A list that was read whole is no sample, even if it has grown meanwhile.
  const each = step === 1 ? 1 : Math.max(1, part.size / looked)
  for (const [domain, count] of counts) {
    const before = seen.get(domain) ?? { count: 0, people: 0 }
    seen.set(domain, { count: before.count + count, people: before.people + count * each })
  }
}

/**
 * The next contacts after an id, each the `step`th in the order of ids: imports are often sorted by domain, and
 * neighbours would show only one.
 */
async function everyNth(
  read: Read,
  part: Part,
  { after, step }: { after: string; step: number },
): Promise<{ id: string; address: string }[]> {
  const slice = read.selectFrom(
    part.of === 'list'
      ? read
          .selectFrom('list_members')
          .select('contact_id as id')
          .where('list_id', '=', part.id)
          .where('contact_id', '>', after)
          .orderBy('contact_id')
          .limit(step * perSlice)
          .as('some')
      : read
          .selectFrom('segment_members')
          .select('contact_id as id')
          .where('segment_id', '=', part.id)
          .where('contact_id', '>', after)
          .orderBy('contact_id')
          .limit(step * perSlice)
          .as('some'),
  )
  const numbered = slice.select((eb) => [
    'some.id',
    eb.fn
      .agg<number>('row_number')
      .over((over) => over.orderBy('some.id'))
      .as('n'),
  ])
  return await read
    .selectFrom(numbered.as('member'))
    .innerJoin('contacts', 'contacts.id', 'member.id')
    .select(['member.id', 'address'])
    .where((eb) => eb(eb('member.n', '%', step), '=', 0))
    .orderBy('member.id')
    .execute()
}
