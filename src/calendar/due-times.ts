import { isTime } from '../clock/index.js'
import {
  type Config,
  type JobName,
  jobCatalogue,
  jobNames,
  readSchedule,
  type Schedule,
} from '../config/index.js'
import type { Read, Tx } from '../store/index.js'
import { type JobRun, lastRuns } from './runs.js'

/*
 * A job's due times up to its `handledUntil` are dealt with: each was run, was made up for by one run together with
 * others, or came while a run was under way. The database keeps it, so that no restart, sleep or jump of the clock
 * loses a due time or repeats one.
 */

/** Up to when each job's due times were handled, for all jobs that were ever on the calendar. */
export async function readHandled(read: Read): Promise<Map<string, Handled>> {
  const rows = await read.selectFrom('jobs').selectAll().execute()
  return new Map(
    rows.map((row) => [row.name, { schedule: row.schedule, until: row.handled_until }]),
  )
}

export interface Handled {
  /** `Schedule.text`, as it was when this was written. */
  schedule: string
  until: number
}

/** Writes down until when (ms) a job's times are dealt with, and by which schedule. */
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
 * How far a job is at the start of the appliance. A new job, or one whose schedule changed, has nothing to make up for:
 * it is due from `now` on.
 */
export function handledAtStart(
  schedule: Schedule,
  known: Handled | undefined,
  now: number,
): number {
  if (known?.schedule !== schedule.text) return now
  // The clock was set back while the appliance was down; by how much nobody knows.
  const isAhead = known.until > now + schedule.period(now) / 2
  return isAhead ? handledAfterSetBack(schedule, now, now) : known.until
}

/**
 * For a clock that was set back to `now`; by that clock the last due time was dealt with at `lastAt`. The next due time
 * runs, and not only those after all that has run, but not so soon after the last run that it would run twice.
 */
export function handledAfterSetBack(schedule: Schedule, lastAt: number, now: number): number {
  const next = schedule.next(now)
  const isSoon = next - Math.min(lastAt, now) < schedule.period(now) / 2
  return isSoon ? next : now
}

/** How a job stands: what commands, the doctor and the pages show of it. */
export interface JobStanding {
  name: JobName
  what: string
  /** The job's cron expression; null: it is off. */
  cron: string | null
  /** The last run, which may be under way. */
  last: JobRun | undefined
  /** In the past while it waits for its turn, or while no appliance runs; null: it is off. */
  dueAt: number | null
  /** It should have run more than two of its periods ago. */
  isOverdue: boolean
}

/** In the order of the catalogue. */
export const readJobStandings = async (
  read: Read,
  settings: Config['jobs'],
  now: number,
): Promise<JobStanding[]> => jobStandings(await readJobRecord(read), settings, now)

/** What the database has about the jobs: how far each is, and its last run. */
export const readJobRecord = async (read: Read) => ({
  handled: await readHandled(read),
  last: await lastRuns(read),
})

/** How the jobs stand at this moment, by a record that was read before. */
export function jobStandings(
  { handled, last }: Awaited<ReturnType<typeof readJobRecord>>,
  settings: Config['jobs'],
  now: number,
): JobStanding[] {
  return jobNames.map((name) => {
    const cron = settings[name]
    const standing = { name, what: jobCatalogue[name].what, last: last.get(name) }
    if (cron === 'off') return { ...standing, cron: null, dueAt: null, isOverdue: false }
    const schedule = readSchedule(cron, settings.zone)
    const known = handled.get(name)
    const dueAt = schedule.next(known?.schedule === schedule.text ? known.until : now)
    return { ...standing, cron, dueAt, isOverdue: now - dueAt > 2 * schedule.period(dueAt) }
  })
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** `every day at 04:50 UTC`. A cron expression without such words is shown as it is. */
export function scheduleInWords(cron: string | null, zone: string): string {
  if (cron === null) return 'off'
  const [, minutesOf = '', step = ''] =
    /^(\d{1,2}(?:,\d{1,2})*) \*(?:\/(\d{1,2}))? \* \* \*$/.exec(cron) ?? []
  if (minutesOf !== '') {
    const at = minutesOf.split(',').map((one) => `:${one.padStart(2, '0')}`)
    // In some zones the minutes differ.
    const where = zone === 'UTC' ? '' : ` ${zone}`
    if (step === '' || step === '1') return `every hour at ${at.join(' ')}${where}`
    // A step that does not divide 24 leaves a shorter gap at the end of the day.
    if (24 % Number(step) === 0) return `every ${step} hours at ${at.join(' ')} ${zone}`
  }
  const [, minute = '', hour = '', day, weekday = ''] =
    /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|\d)$/.exec(cron) ?? []
  const minutes = minute.padStart(2, '0')
  if (minute === '') return `${cron} ${zone}`
  const time = `at ${hour.padStart(2, '0')}:${minutes} ${zone}`
  if (day === '*' && weekday === '*') return `every day ${time}`
  if (day === '*') return `every ${weekdays[Number(weekday) % 7]} ${time}`
  return weekday === '*' ? `on day ${day} of the month ${time}` : `${cron} ${zone}`
}

/** `3.4 s`, `12 min`, `2.5 h`; a dash while it is under way. */
export function shownDuration(run: JobRun | undefined): string {
  if (run?.endedAt == null || !isTime(run.beganAt) || !isTime(run.endedAt)) return '-'
  const seconds = Math.max(0, run.endedAt - run.beganAt) / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}
