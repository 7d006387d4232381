import { type RawBuilder, sql } from 'kysely'
import { type Clock, type Repeating, repeat } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { acceptedAt, type Read, type Store } from '../store/index.js'
import { type ClassName, classNames } from './inspect.js'

/**
 * How many deliveries wait, known to all threads without asking the database: the bound of the queue is checked on
 * every send. It is close rather than exact; `recount` makes it true again.
 */
export interface Backlog {
  readonly size: number
  /** How many came since the start, in all threads together; it begins anew at 2^31. */
  readonly accepted: number
  /** The disk is full: no mail is to be taken in, however little waits. */
  readonly outOfRoom: boolean
  setOutOfRoom(is: boolean): void
  /** The operator lets it take nothing new, because other nodes are to take over what it has. */
  readonly isDraining: boolean
  setDraining(is: boolean): void
  /**
   * How many more may come where at most `maxQueued` may wait: none while the disk is full or it drains, below 0 above
   * the bound.
   */
  left(maxQueued: number): number
  /** After the commit: `by` rows came (or, below zero, went). */
  change(by: number): void
  /** Corrects the number by so much, though nothing came or went. */
  correct(by: number): void
  recount(store: Pick<Store, 'read' | 'node'>): Promise<void>
  /** What the last census found; undefined before the first one. */
  readonly depth: QueueDepth | undefined
  /** How many censuses there were. */
  readonly counts: number
  keepDepth(depth: QueueDepth): void
}

// Six counts (the last is spare, as figures lie at multiples of 8 bytes), then the three figures of each class.
const countsLength = 6
const countsBytes = countsLength * Int32Array.BYTES_PER_ELEMENT
const figuresOf = 3

export const makeBacklogMemory = () =>
  new SharedArrayBuffer(
    countsBytes + figuresOf * classNames.length * Float64Array.BYTES_PER_ELEMENT,
  )

/** The count that all threads share. It is a count and not a query, as every acceptance asks for it. */
export function joinBacklog(shared: SharedArrayBuffer): Backlog {
  const count = new Int32Array(shared, 0, countsLength)
  // A census may be read while the next one is written: at worst, figures of this second stand beside those of the
  // last.
  const figures = new Float64Array(shared, countsBytes)
  return {
    get size() {
      return Atomics.load(count, 0)
    },
    get accepted() {
      return Atomics.load(count, 1)
    },
    get outOfRoom() {
      return Atomics.load(count, 2) === 1
    },
    setOutOfRoom: (is) => void Atomics.store(count, 2, is ? 1 : 0),
    get isDraining() {
      return Atomics.load(count, 4) === 1
    },
    setDraining: (is) => void Atomics.store(count, 4, is ? 1 : 0),
    left(maxQueued) {
      return this.outOfRoom || this.isDraining ? 0 : maxQueued - this.size
    },
    change(by) {
      Atomics.add(count, 0, by)
      if (by > 0) Atomics.add(count, 1, by)
    },
    correct: (by) => void Atomics.add(count, 0, by),
    async recount({ read, node }) {
      const { waiting } = await read
        .selectFrom('queue')
        .where('node', '=', node.number)
        .select((eb) => eb.fn.countAll<number>().as('waiting'))
        .executeTakeFirstOrThrow()
      Atomics.store(count, 0, waiting)
    },
    get counts() {
      return Atomics.load(count, 3)
    },
    get depth() {
      if (this.counts === 0) return undefined
      const time = (at: number) => (Number.isNaN(figures[at]) ? undefined : figures[at])
      const entries = classNames.map((name, number) => {
        const from = number * figuresOf
        const [oldestAt, dueAt] = [time(from + 1), time(from + 2)]
        return [name, { deliveries: figures[from] ?? 0, oldestAt, dueAt }]
      })
      return Object.fromEntries(entries) as QueueDepth
    },
    keepDepth(depth) {
      const all = classNames.map((name) => depth[name])
      figures.set(
        all.flatMap(({ deliveries, oldestAt, dueAt }) => [
          deliveries,
          oldestAt ?? Number.NaN,
          dueAt ?? Number.NaN,
        ]),
      )
      Atomics.add(count, 3, 1)
    },
  }
}

/** How the deliveries of each class wait. */
export type QueueDepth = Record<
  ClassName,
  {
    deliveries: number
    /** When the oldest of them was accepted. */
    oldestAt: number | undefined
    /** When the first of them that is not under way is, or was, due. */
    dueAt: number | undefined
  }
>

/**
 * Counts all deliveries that this appliance has in the queue, along one index. It holds the calling thread for 0.2 s
 * per million rows (2026-11), so nobody may wait for that thread.
 */
export async function measureDepth({
  read,
  node,
}: Pick<Store, 'read' | 'node'>): Promise<QueueDepth> {
  return await depthOf(read, sql`queue where node = ${node.number}`)
}

/**
 * How much waits, counted in at most `most` rows and one more, for a command for which somebody waits; `counted` is
 * above `most` where there are more.
 */
export async function depthUpTo(
  read: Read,
  most: number,
): Promise<{ counted: number; depth: QueueDepth }> {
  const some = sql`(select id, class, due_at from queue order by id limit ${most + 1}) as waiting`
  const depth = await depthOf(read, some)
  const counted = classNames.reduce((sum, name) => sum + depth[name].deliveries, 0)
  return { counted, depth }
}

async function depthOf(read: Read, rowsOf: RawBuilder<unknown>): Promise<QueueDepth> {
  const columns = classNames.flatMap((_, number) => {
    const ofClass = sql`filter (where class = ${sql.lit(number)})`
    return [sql`count(*) ${ofClass}`, sql`min(id) ${ofClass}`, sql`min(due_at) ${ofClass}`]
  })
  const named = columns.map((column, at) => sql`${column} as ${sql.ref(`c${at}`)}`)
  const { rows } = await sql<Record<string, number | null>>`
    select ${sql.join(named)} from ${rowsOf}`.execute(read)
  const counted = rows[0] ?? {}
  const entries = classNames.map((name, number) => {
    const first = counted[`c${number * 3 + 1}`] ?? null
    const oldestAt = first === null ? undefined : acceptedAt(first)
    const dueAt = counted[`c${number * 3 + 2}`] ?? undefined
    return [name, { deliveries: counted[`c${number * 3}`] ?? 0, oldestAt, dueAt }]
  })
  return Object.fromEntries(entries) as QueueDepth
}

const everyMs = 10_000
// At most a fiftieth of the thread's time, however long the queue is.
const restFactor = 50

/**
 * Counts the queue now and then for all threads, and corrects the shared count: other processes (the CLI) change the
 * queue too. For a thread for which nobody waits.
 */
export function startCensus(deps: {
  store: Store
  clock: Clock
  log: Log
  backlog: Backlog
}): Repeating {
  const { store, clock, log, backlog } = deps

  const count = async () => {
    const known = backlog.size
    const depth = await measureDepth(store)
    // Changes that threads made meanwhile stay in the count.
    backlog.correct(classNames.reduce((sum, name) => sum + depth[name].deliveries, 0) - known)
    backlog.keepDepth(depth)
  }
  return repeat(clock, async () => {
    const began = clock.now()
    await count().catch((error: unknown) =>
      log.error({ cause: messageOf(error) }, 'The queue could not be counted'),
    )
    return Math.max(everyMs, restFactor * (clock.now() - began))
  })
}

/** Shows what the last census found. Ages go on between two of them, also while none is made because nobody writes. */
export function showDepth(backlog: Pick<Backlog, 'depth'>, now: number, meter: Meter): void {
  const { depth } = backlog
  if (depth === undefined) return
  const secondsSince = (at = now) => Math.max(0, now - at) / 1_000
  for (const name of classNames) {
    const { deliveries, oldestAt, dueAt } = depth[name]
    meter.gauge('posthorn_queue_deliveries', { class: name }, deliveries)
    meter.gauge('posthorn_queue_oldest_seconds', { class: name }, secondsSince(oldestAt))
    // A lease, a hold and a plan for later move the due time ahead.
    meter.gauge('posthorn_queue_due_seconds', { class: name }, secondsSince(dueAt))
  }
}
