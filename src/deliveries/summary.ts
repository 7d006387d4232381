import { type RawBuilder, sql } from 'kysely'
import { acceptedAt, idsIn, type Read } from '../store/index.js'
import { isInFlight } from './held.js'
import { type ClassName, classNames } from './inspect.js'
import { fitting, type QueueFilter } from './select.js'

/** Deliveries by how they stand; the five counts make up `waiting`. */
export interface Standing {
  waiting: number
  due: number
  inFlight: number
  /** Not tried yet, for a later time. */
  scheduled: number
  /** Tried, and to be tried again. */
  deferred: number
  held: number
  oldestAt: number
}

export interface QueueSummary {
  classes: (Standing & { class: ClassName })[]
  /** Those with the most waiting. */
  lanes: (Standing & { lane: string })[]
}

/** Looks at every row that fits: for a process of its own, not for a thread that others wait for. */
export async function summarise(
  read: Read,
  filter: QueueFilter,
  { now, lanes }: { now: number; lanes: number },
): Promise<QueueSummary> {
  const held = sql<boolean>`held_at is not null`
  const inFlight = isInFlight(now)
  const later = sql<boolean>`(due_at > ${now} and held_at is null and not ${inFlight})`
  const standing = fitting(read.selectFrom('queue'), filter).select(({ fn }) => {
    const count = (condition: RawBuilder<boolean>) => fn.countAll<number>().filterWhere(condition)
    return [
      fn.countAll<number>().as('waiting'),
      count(sql`due_at <= ${now}`).as('due'),
      count(inFlight).as('inFlight'),
      count(sql`${later} and attempts = 0`).as('scheduled'),
      count(sql`${later} and attempts > 0`).as('deferred'),
      count(held).as('held'),
      fn.min('id').as('oldest'),
    ]
  })
  const byClass = await standing.select('class').groupBy('class').orderBy('class').execute()
  // Counted along the index first: grouping whole rows by lane fetches them in random order.
  const longest = await fitting(read.selectFrom('queue'), filter)
    .select(({ fn }) => ['lane', fn.countAll<number>().as('waiting')])
    .groupBy('lane')
    .orderBy('waiting', 'desc')
    .orderBy('lane')
    .limit(lanes)
    .execute()
  const names = longest.map(({ lane }) => lane)
  const byLane = await standing
    .select('lane')
    .where('lane', 'in', idsIn(names))
    .groupBy('lane')
    .execute()
  byLane.sort((a, b) => names.indexOf(a.lane) - names.indexOf(b.lane))
  const dated = <T extends { oldest: number }>({ oldest, ...rest }: T) => ({
    ...rest,
    oldestAt: acceptedAt(oldest),
  })
  return {
    classes: byClass.map((row) => ({
      ...dated(row),
      class: classNames[row.class] ?? 'transactional',
    })),
    lanes: byLane.map(dated),
  }
}
