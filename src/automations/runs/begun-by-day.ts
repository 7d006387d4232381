import { keepNewest, nextTurn } from '../../bounded/index.js'
import { dayMs, isRecent } from '../../clock/index.js'
import { firstUuidAt, prepared, type Read } from '../../store/index.js'

/** The runs of an automation that began on a day, or in a week, by what became of them: still in it, at the end, or gone before. */
export interface BegunDay {
  /** When that begins, UTC. */
  at: number
  live: number
  completed: number
  left: number
}

// Counted anew at most that often where there are very many: each run is looked at.
const countEveryMs = 60_000
const manyRuns = 20_000
const mostKept = 100
const lately = new Map<string, { at: number; found: BegunDay[] }>()

// A millisecond or two of the thread.
const perLook = 2_000

/**
 * The last `days`, the oldest first, in pieces of `each` days; ids rise with the beginning of runs, so each piece is a stretch
 * of two indexes.
 */
export async function begunByDay(
  read: Read,
  automationId: string,
  { days, each = 1, now }: { days: number; each?: number; now: number },
): Promise<BegunDay[]> {
  const name = `${automationId} ${days} ${each}`
  const known = lately.get(name)
  if (known !== undefined && isRecent(known.at, now, countEveryMs)) return known.found
  const today = now - (now % dayMs)
  const found: BegunDay[] = []
  for (let back = days - 1; back >= 0; back -= each) {
    const at = today - back * dayMs
    const end = Math.min(at + each * dayMs, today + dayMs)
    const stretch = { automationId, from: firstUuidAt(at), to: firstUuidAt(end) }
    const live = await countStatuses(stretch, (look) => liveBetween(read, look))
    const ended = await countStatuses(stretch, (look) => endedBetween(read, look))
    const { completed = 0, ...left } = Object.fromEntries(ended)
    const sum = (counts: Iterable<number>) => [...counts].reduce((all, runs) => all + runs, 0)
    found.push({ at, live: sum(live.values()), completed, left: sum(Object.values(left)) })
  }
  const all = found.reduce((sum, day) => sum + day.live + day.completed + day.left, 0)
  if (all > manyRuns) keepNewest(lately, name, { at: now, found }, mostKept)
  return found
}

interface Stretch {
  automationId: string
  from: string
  to: string
}

interface Counted {
  status: string
  runs: number
  last: string
}

/** By status, a slice after the other, with turns for others in between: a million may have begun on one day. */
async function countStatuses(
  stretch: Stretch,
  look: (stretch: Stretch) => Promise<Counted[]>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let from = stretch.from; ; ) {
    const rows = await look({ ...stretch, from })
    for (const { status, runs } of rows) counts.set(status, runs + (counts.get(status) ?? 0))
    const last = rows
      .map((row) => row.last)
      .sort()
      .at(-1)
    if (last === undefined || rows.reduce((sum, { runs }) => sum + runs, 0) < perLook) return counts
    from = last
    await nextTurn()
  }
}

const liveBetween = prepared<Stretch, Counted>((db, stretch) =>
  counted(db, some(db, 'automation_live', stretch)),
)

const endedBetween = prepared<Stretch, Counted>((db, stretch) =>
  counted(db, some(db, 'automation_runs', stretch)),
)

/** The next of those behind one; the first id of a day is nobody's. */
const some = (
  db: Read,
  table: 'automation_live' | 'automation_runs',
  { automationId, from, to }: Stretch,
) =>
  db
    .selectFrom(table)
    .select(['id', 'status'])
    .where('automation_id', '=', automationId)
    .where('id', '>', from)
    .where('id', '<', to)
    .orderBy('id')
    .limit(perLook)

const counted = (db: Read, those: ReturnType<typeof some>) =>
  db
    .selectFrom(those.as('some'))
    .select('status')
    .select((eb) => [eb.fn.countAll<number>().as('runs'), eb.fn.max<string>('id').as('last')])
    .groupBy('status')
