import type { AliasableExpression } from 'kysely'
import { keepNewest, nextTurn } from '../../bounded/index.js'
import { dayMs, isRecent } from '../../clock/index.js'
import { firstUuidAt, idsOf, prepared, type Read } from '../../store/index.js'
import { drawnEnds } from './end-kinds.js'

/**
 * The runs of an automation that began on a day, or in a week, by what became of them: still in it, at the end or ended
 * by a step, ended by the goal or an event, or gone before.
 */
export interface BegunDay {
  /** When the day or week begins, UTC. */
  at: number
  live: number
  through: number
  meant: number
  left: number
}

// Very many runs are counted anew at most this often: each run is looked at.
const countEveryMs = 60_000
const manyRuns = 20_000
const mostKept = 100
const lately = new Map<string, { at: number; found: BegunDay[] }>()

// A millisecond or two of the thread.
const perLook = 2_000

/**
 * The last `days`, the oldest first, in pieces of `each` days; ids rise with the beginning of runs, so each piece is a
 * stretch of two indexes.
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
  const exits = JSON.stringify(await drawnEnds(read, automationId))
  const found: BegunDay[] = []
  for (let back = days - 1; back >= 0; back -= each) {
    const at = today - back * dayMs
    const end = Math.min(at + each * dayMs, today + dayMs)
    const stretch = { automationId, exits, from: firstUuidAt(at), to: firstUuidAt(end) }
    const live = await countStatuses(stretch, (look) => liveBetween(read, look))
    const over = await countStatuses(stretch, (look) => endedBetween(read, look))
    const { completed = 0, step = 0, event = 0, goal = 0, ...left } = Object.fromEntries(over)
    const sum = (counts: Iterable<number>) => [...counts].reduce((all, runs) => all + runs, 0)
    const [through, meant] = [completed + step, event + goal]
    found.push({ at, live: sum(live.values()), through, meant, left: sum(Object.values(left)) })
  }
  const all = found.reduce((sum, day) => sum + day.live + day.through + day.meant + day.left, 0)
  if (all > manyRuns) keepNewest(lately, name, { at: now, found }, mostKept)
  return found
}

interface Stretch {
  automationId: string
  /** JSON: the numbers of the steps that end runs. */
  exits: string
  from: string
  to: string
}

interface Counted {
  status: string
  runs: number
  last: string
}

/** Counts by status, slice by slice, with turns for others in between: a million may have begun on one day. */
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

const liveBetween = prepared<Stretch, Counted>((db, { automationId, from, to }) =>
  counted(
    db,
    db
      .selectFrom('automation_live')
      .select(['id', 'status'])
      .where('automation_id', '=', automationId)
      .where('id', '>', from)
      .where('id', '<', to)
      .orderBy('id')
      .limit(perLook),
  ),
)

const endedBetween = prepared<Stretch, Counted>((db, { automationId, exits, from, to }) =>
  counted(
    db,
    db
      .selectFrom('automation_runs')
      .select('id')
      // Tells ends apart as `endKindOf` does.
      .select((eb) => {
        const isExited = (reason: string) =>
          eb.and([eb('status', '=', 'exited'), eb('reason', '=', reason)])
        const isDrawn = eb('step_id', 'in', idsOf(exits, 'integer'))
        return eb
          .case()
          .when(eb.and([eb('status', '=', 'exited'), isDrawn]))
          .then(eb.val<string>('step'))
          .when(isExited('timed_out'))
          .then('step')
          .when(isExited('exit_rule'))
          .then('event')
          .when(isExited('goal'))
          .then('goal')
          .else(eb.ref('status').$castTo<string>())
          .end()
          .as('status')
      })
      .where('automation_id', '=', automationId)
      .where('id', '>', from)
      .where('id', '<', to)
      .orderBy('id')
      .limit(perLook),
  ),
)

/** The next rows behind one, by their status; the first id of a day belongs to no run. */
const counted = (db: Read, some: AliasableExpression<{ id: string; status: string }>) =>
  db
    .selectFrom(some.as('some'))
    .select('status')
    .select((eb) => [eb.fn.countAll<number>().as('runs'), eb.fn.max<string>('id').as('last')])
    .groupBy('status')
