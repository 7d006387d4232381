import { sql } from 'kysely'
import { greatest, type HeldBy, idsIn, type Read, type Tx } from '../store/index.js'
import { isInFlight } from './lease.js'

/** The due time of held deliveries: later than any clock, and a date that can be printed. */
export const never = Date.UTC(9999, 0, 1)

/** The reason of held mail of a paused campaign. */
export const campaignPaused = (broadcastId: string) => `campaign ${broadcastId} is paused`

/**
 * Holds deliveries back until `release`: no claim sees them, no lane counts them as due. A delivery whose attempt is
 * under way is left alone, because its mail may have arrived already; it is counted as in flight, and can be held once
 * that attempt has ended.
 */
export async function hold(
  tx: Tx,
  ids: readonly number[],
  { reason, by = 'operator', now }: { reason: string; by?: HeldBy; now: number },
): Promise<Changes> {
  const { numUpdatedRows } = await tx
    .updateTable('queue')
    .set({
      held_at: now,
      held_reason: reason,
      held_by: by,
      held_due_at: sql.ref('due_at'),
      due_at: never,
      lease: null,
    })
    .where('id', 'in', idsIn(ids, 'integer'))
    .where('held_at', 'is', null)
    .where(({ not }) => not(isInFlight(now)))
    .executeTakeFirst()
  return countChanges(tx, ids, numUpdatedRows, now)
}

/**
 * Lets held deliveries go on where they stood; those that fell due meanwhile are due at once. The time for which they
 * were held does not count against the time for which they are tried.
 */
export async function release(
  tx: Tx,
  ids: readonly number[],
  { now }: { now: number },
): Promise<Changes> {
  const { numUpdatedRows } = await tx
    .updateTable('queue')
    .set({
      due_at: sql`case when held_due_at > ${now} then held_due_at else ${now} end`,
      // If a clock that was ahead held it and was set back since, nobody knows for how long it was held.
      expires_at: sql`expires_at + ${greatest(sql.lit(0), sql`${now} - held_at`)}`,
      held_at: null,
      held_reason: null,
      held_by: null,
      held_due_at: null,
    })
    .where('id', 'in', idsIn(ids, 'integer'))
    .where('held_at', 'is not', null)
    .executeTakeFirst()
  return countChanges(tx, ids, numUpdatedRows, now)
}

/**
 * Makes deferred deliveries due now. A delivery that was not tried yet keeps its time (a scheduled mail must not leave
 * early), and so does a held one.
 */
export async function retry(
  tx: Tx,
  ids: readonly number[],
  { now }: { now: number },
): Promise<Changes> {
  const { numUpdatedRows } = await tx
    .updateTable('queue')
    .set({ due_at: now, lease: null })
    .where('id', 'in', idsIn(ids, 'integer'))
    .where('attempts', '>', 0)
    .where('held_at', 'is', null)
    .where(({ not }) => not(isInFlight(now)))
    .executeTakeFirst()
  return countChanges(tx, ids, numUpdatedRows, now)
}

/** The recipients' domains that the operator wants tried now; `all`: too many to name. */
export type RetriedLanes = readonly string[] | 'all'

/** What a change came to: how many deliveries it changed, and how many were in flight. */
export interface Changes {
  changed: number
  inFlight: number
}

/** How many rows a change reached, and how many of the deliveries `ids` are under way now. */
export async function countChanges(
  tx: Tx,
  ids: readonly number[],
  changed: bigint | number,
  now: number,
): Promise<Changes> {
  const { inFlight } = await tx
    .selectFrom('queue')
    .select((eb) => eb.fn.countAll<number>().as('inFlight'))
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(isInFlight(now))
    .executeTakeFirstOrThrow()
  return { changed: Number(changed), inFlight }
}

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
