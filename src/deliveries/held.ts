import { sql } from 'kysely'
import type { Read } from '../store/index.js'

/** The due time of what is held: later than any clock, and a date that can be printed. */
export const never = Date.UTC(9999, 0, 1)

/** An attempt is under way: the row's lease has not run out. */
export const isInFlight = (now: number) => sql<boolean>`(lease is not null and due_at > ${now})`

/** How long a claim leases a delivery for: longer than all of an attempt's deadlines together. */
export const leaseMs = 3_600_000

/** How many deliveries are held, counted up to one more than `most`. */
export async function countHeldUpTo(read: Read, most: number): Promise<number> {
  const some = read
    .selectFrom('queue')
    .select('held_at')
    .where('held_at', 'is not', null)
    .limit(most + 1)
    .as('some')
  const { held } = await read
    .selectFrom(some)
    .select(({ fn }) => fn.countAll<number>().as('held'))
    .executeTakeFirstOrThrow()
  return held
}
