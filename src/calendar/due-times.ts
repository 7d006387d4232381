import type { Schedule } from '../config/index.js'
import type { Read, Tx } from '../store/index.js'

/*
 * Up to a job's `handledUntil` its due times are dealt with: they were run, or made up for together by one run,
 * or came while one was under way. It is kept in the database, so that neither a restart nor a sleep nor a clock
 * that jumps loses a due time or repeats one.
 */

/** Of each job that was ever on the calendar. */
export async function readHandled(read: Read): Promise<Map<string, Handled>> {
  const rows = await read.selectFrom('jobs').selectAll().execute()
  return new Map(
    rows.map((row) => [row.name, { schedule: row.schedule, until: row.handled_until }]),
  )
}

export interface Handled {
  /** `Schedule.text`, as it was then. */
  schedule: string
  until: number
}

export async function keepHandled(
  tx: Tx,
  name: string,
  { schedule, until }: Handled,
): Promise<void> {
  const values = { schedule, handled_until: until }
  await tx
    .insertInto('jobs')
    .values({ name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute()
}

/**
 * At the start of the appliance. A job that is new, or had another schedule, has nothing to make up for: it is due
 * from `now` on.
 */
export function handledAtStart(
  schedule: Schedule,
  known: Handled | undefined,
  now: number,
): number {
  if (known?.schedule !== schedule.text) return now
  // Set back while the appliance was down: by how much nobody knows.
  const isAhead = known.until > now + schedule.period(now) / 2
  return isAhead ? handledAfterSetBack(schedule, now, now) : known.until
}

/**
 * The clock was set back to `now`; by it the last due time was dealt with at `lastAt`. What is due next runs, and
 * not only what comes after all that has run; but not so soon after the last run that it would be run twice.
 */
export function handledAfterSetBack(schedule: Schedule, lastAt: number, now: number): number {
  const next = schedule.next(now)
  const isSoon = next - Math.min(lastAt, now) < schedule.period(now) / 2
  return isSoon ? next : now
}
