import { type RawBuilder, sql } from 'kysely'
import { acceptedAt, type Read } from '../store/index.js'
import { type ClassName, classNames } from './inspect.js'

/** How many deliveries of each class wait. */
export type QueueDepth = Record<
  ClassName,
  {
    deliveries: number
    /** When the oldest of them was accepted. */
    oldestAt: number | undefined
    /** When the first of them is, or was, due that is not under way. */
    dueAt: number | undefined
  }
>

/**
 * Counts the whole queue along one index. It holds the calling thread for 0.2 s per million rows
 * (2026-11), so nobody may wait for that thread.
 */
export async function measureDepth(read: Read): Promise<QueueDepth> {
  return await depthOf(read, sql`queue`)
}

/**
 * The same of at most so many rows and one more, for a command that somebody waits for; `counted` is above
 * `most` where there are more.
 */
export async function depthUpTo(
  read: Read,
  most: number,
): Promise<{ counted: number; depth: QueueDepth }> {
  const some = sql`(select id, class, due_at from queue order by id limit ${most + 1})`
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
