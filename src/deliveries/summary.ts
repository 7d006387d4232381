import { type RawBuilder, sql } from 'kysely'
import { stoppedAccounts } from '../billing/index.js'
import { acceptedAt, idsIn, ofAnyNode, queueClass, type Read } from '../store/index.js'
import { type ClassName, classNameOf, classNames } from './inspect.js'
import { isInFlight } from './lease.js'
import { fitting, type QueueFilter } from './select.js'

/** Deliveries by how they stand; the six counts make up `waiting`. */
export interface DeliveryStanding {
  waiting: number
  due: number
  /** Due, but its account is suspended or paused. */
  stopped: number
  inFlight: number
  /** Not tried yet, as it is meant for a later time. */
  scheduled: number
  /** Tried, and to be tried again. */
  deferred: number
  held: number
  oldestAt: number
}

export interface QueueSummary {
  classes: (DeliveryStanding & { class: ClassName })[]
  /** The domains with the most waiting; each with the stream of its mail that is due first, if any is. */
  lanes: (DeliveryStanding & { lane: string; first: DueStream | undefined })[]
}

export interface DueStream {
  lane: string
  class: ClassName
  accountId: string
}

/** Looks at every row that fits: for a process of its own, not for a thread for which others wait. */
export async function summarise(
  read: Read,
  filter: QueueFilter,
  { now, lanes }: { now: number; lanes: number },
): Promise<QueueSummary> {
  const held = sql<boolean>`held_at is not null`
  const inFlight = isInFlight(now)
  const stopped = isStopped(await stoppedAccounts(read))
  const later = sql<boolean>`(due_at > ${now} and held_at is null and not ${inFlight})`
  const standing = fitting(read.selectFrom('queue'), filter).select(({ fn }) => {
    const count = (condition: RawBuilder<boolean>) => fn.countAll<number>().filterWhere(condition)
    return [
      fn.countAll<number>().as('waiting'),
      count(sql`due_at <= ${now}`).as('dueOrStopped'),
      count(sql`due_at <= ${now} and ${stopped}`).as('stopped'),
      count(inFlight).as('inFlight'),
      count(sql`${later} and attempts = 0`).as('scheduled'),
      count(sql`${later} and attempts > 0`).as('deferred'),
      count(held).as('held'),
      fn.min('id').as('oldest'),
    ]
  })
  const byClass = await standing.select('class').groupBy('class').orderBy('class').execute()
  // Counted along the index first: grouping whole rows by lane would fetch them in random order.
  const longest = await fitting(read.selectFrom('queue'), filter)
    .select(({ fn }) => ['lane', fn.countAll<number>().as('waiting')])
    .where(ofAnyNode)
    .groupBy('lane')
    .orderBy('waiting', 'desc')
    .orderBy('lane')
    .limit(lanes)
    .execute()
  const names = longest.map(({ lane }) => lane)
  const byLane = await standing
    .select('lane')
    .where(ofAnyNode)
    .where('lane', 'in', idsIn(names, 'text'))
    .groupBy('lane')
    .execute()
  byLane.sort((a, b) => names.indexOf(a.lane) - names.indexOf(b.lane))
  const firstOf = async (lane: string): Promise<DueStream | undefined> => {
    const first = await fitting(read.selectFrom('queue'), filter)
      .select(['class', 'account_id'])
      .where(ofAnyNode)
      .where('lane', '=', lane)
      .where(sql<boolean>`due_at <= ${now} and not ${stopped}`)
      .limit(1)
      .executeTakeFirst()
    return first && { lane, class: classNameOf(first.class), accountId: first.account_id }
  }
  // Not a condition of its own: looking up an account costs more than everything else about a row.
  const dated = <T extends { oldest: number; dueOrStopped: number; stopped: number }>({
    oldest,
    dueOrStopped,
    ...rest
  }: T) => ({ ...rest, due: dueOrStopped - rest.stopped, oldestAt: acceptedAt(oldest) })
  return {
    classes: byClass.map((row) => ({
      ...dated(row),
      class: classNames[row.class] ?? 'transactional',
    })),
    lanes: await Promise.all(
      byLane.map(dated).map(async (row) => ({
        ...row,
        first: row.due === 0 ? undefined : await firstOf(row.lane),
      })),
    ),
  }
}

function isStopped({ all, marketing }: Awaited<ReturnType<typeof stoppedAccounts>>) {
  const notTransactional = sql<boolean>`class <> ${queueClass.transactional}`
  const parts = [
    ...(all.length === 0 ? [] : [sql<boolean>`account_id in ${idsIn(all, 'text')}`]),
    ...(marketing.length === 0
      ? []
      : [sql<boolean>`(${notTransactional} and account_id in ${idsIn(marketing, 'text')})`]),
  ]
  return parts.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`(${sql.join(parts, sql` or `)})`
}
