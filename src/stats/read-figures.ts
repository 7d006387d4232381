import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import type { FigureRow, Read } from '../store/index.js'
import { addTo, type Counts, counters, noCounts } from './add-figures.js'
import { type Cursors, cursorNames } from './cursors.js'
import type { Dimension, FiguresQuestion } from './question.js'

/** The counts of a group. Where figures are not grouped by something, the day is 0 or the name is empty. */
export interface FigureGroup extends GroupKey {
  counts: Counts
}

/** What makes a group. */
type GroupKey = Pick<FigureRow, 'day' | 'domain' | 'key'> & { type: FigureRow['type'] | '' }

/** What was read of some days, and how far the logs were counted at that moment. */
interface Part {
  fromDay: number
  toDay: number
  cursors: Cursors
}

/** Groups as they are added up, and the parts that they were read in. */
export interface CollectedFigures {
  groupBy: readonly Dimension[]
  groups: Map<string, FigureGroup>
  parts: Part[]
}

// This is some thousand rows at most: a busy year at once would hold up the thread that clients wait for.
const daysAtOnce = 16
const fewRows = 1_000

/** The kept figures, some days at a time, each part with the cursors of the same moment. */
export async function readFigures(
  read: Read,
  accountId: string,
  question: FiguresQuestion,
  groupBy: readonly Dimension[],
): Promise<CollectedFigures> {
  const collected: CollectedFigures = { groupBy, groups: new Map(), parts: [] }
  const { toDay } = question
  let atOnce = daysAtOnce
  for (let { fromDay } = question; fromDay <= toDay; ) {
    const days = { fromDay, toDay: Math.min(toDay, fromDay + atOnce - 1) }
    const rows = await daysQuery(read, accountId, { ...question, ...days }, groupBy).execute()
    const [first] = rows
    if (first === undefined) throw new Error('figure_cursors is empty')
    collected.parts.push({ ...days, cursors: first })
    let rowsRead = 0
    for (const { domain, type, key, day, read: some, ...counts } of rows) {
      rowsRead += some
      // The one row of days without figures.
      if (counts.mails === null) continue
      addToGroup(collected, { domain, type, key, day }, counts as Counts)
    }
    fromDay = days.toDay + 1
    if (rowsRead < fewRows) atOnce *= 2
    await nextTurn()
  }
  return collected
}

/** Adds counts to the group that they belong to. */
export function addToGroup(
  { groupBy, groups }: CollectedFigures,
  row: GroupKey,
  counts: Counts,
): void {
  const by = (...names: Dimension[]) => names.some((name) => groupBy.includes(name))
  const group: GroupKey = {
    day: by('day') ? row.day : 0,
    domain: by('domain') ? row.domain : '',
    type: by('type') ? row.type : '',
    key: by('provider', 'tag', 'broadcast') ? row.key : '',
  }
  const name = JSON.stringify(group)
  const known = groups.get(name)
  if (known === undefined)
    groups.set(name, { ...group, counts: { ...noCounts(), ...pick(counts) } })
  else addTo(known.counts, counts)
}

/** The counters alone: a row of the table has other columns too. */
const pick = (counts: Counts) =>
  Object.fromEntries(counters.map((counter) => [counter, counts[counter]])) as unknown as Counts

/** One statement, so that cursors and figures are of the same moment; it has at least one row. */
export function daysQuery(
  read: Read,
  accountId: string,
  question: FiguresQuestion,
  groupBy: readonly Dimension[],
) {
  const { breakdown, fromDay, toDay, domain, type, key } = question
  const names = groupBy.map((one) =>
    one === 'day' || one === 'domain' || one === 'type' ? one : ('key' as const),
  )
  const column = <T>(name: (typeof names)[number], none: string | number) =>
    names.includes(name) ? sql<T>`${sql.ref(`figures.${name}`)}` : sql<T>`${sql.lit(none)}`
  return read
    .selectFrom('figure_cursors')
    .leftJoin('figures', (join) => {
      let on = join
        .on('figures.account_id', '=', accountId)
        .on('figures.breakdown', '=', breakdown)
        .on('figures.day', '>=', fromDay)
        .on('figures.day', '<=', toDay)
      if (domain !== undefined) on = on.on('figures.domain', '=', domain)
      if (type !== undefined) on = on.on('figures.type', '=', type)
      if (key !== undefined && 'is' in key) on = on.on('figures.key', '=', key.is)
      if (key !== undefined && 'beginsWith' in key) {
        const { beginsWith } = key
        // The end of all keys that begin with it: `name;` comes right after `name:`.
        on = on
          .on('figures.key', '>', beginsWith)
          .on('figures.key', '<', `${beginsWith.slice(0, -1)};`)
      }
      return on
    })
    .select(cursorNames)
    .select([column<number>('day', 0).as('day'), column<string>('domain', '').as('domain')])
    .select([
      column<FigureGroup['type']>('type', '').as('type'),
      column<string>('key', '').as('key'),
    ])
    .select(({ fn }) => fn.countAll<number>().as('read'))
    .select(({ fn }) => counters.map((counter) => fn.sum<number | null>(counter).as(counter)))
    .groupBy(cursorNames)
    .groupBy([...new Set(names)].map((name) => sql.ref(`figures.${name}`)))
}

/** Whether a row of `tally` is one that is asked for. */
export function isAsked(
  row: FigureRow,
  { breakdown, domain, type, key }: FiguresQuestion,
): boolean {
  if (row.breakdown !== breakdown) return false
  if (domain !== undefined && row.domain !== domain) return false
  if (type !== undefined && row.type !== type) return false
  if (key === undefined) return true
  return 'is' in key ? row.key === key.is : row.key.startsWith(key.beginsWith)
}
