import {
  handledAfterSetBack,
  handledAtStart,
  type JobRun,
  keepHandled,
  lastRuns,
  readHandled,
  settleLostRuns,
} from '../calendar/index.js'
import { type Clock, pause } from '../clock/index.js'
import { type Config, type JobLane, jobCatalogue, jobNames, readSchedule } from '../config/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store } from '../store/index.js'
import {
  type CalendarEntry,
  type CalendarJob,
  dueAtOf,
  type JobTurn,
  lookMs,
  lostBefore,
  makeLines,
  type StartedByHand,
} from './calendar-lines.js'
import { runRecorded } from './job-run.js'
import type { JobThread, JobThreads } from './job-threads.js'
import { writeSlots } from './thread-roster.js'

/**
 * Keeps the calendar: looks every minute, and when a job falls due, and starts what is due. Bree starts the threads,
 * but this calendar tells it when. Bree's own timers read the system's time and no `Clock`, and do not know of runs
 * that were missed while the machine slept or was off. Its parser of cron expressions, 'later', leaves a job of 02:30
 * out on the day on which clocks skip that time.
 */
export interface Calendar {
  /** Starts a job by hand, at once or as the next one; undefined when there is no such job. */
  runNow(name: string): StartedByHand | undefined
  /**
   * Starts no more; resolves when the rows of the runs under way are written. The end of their threads brings that
   * about.
   */
  close(): Promise<void>
}

export type { CalendarJob, StartedByHand } from './calendar-lines.js'

export interface CalendarOptions {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  threads: Pick<JobThreads, 'run'>
  jobs: readonly CalendarJob[]
  zone: string
}

/**
 * Looks at the clock every minute instead of setting timers for hours: a timer does not notice that
 * the machine has slept or that the clock was set.
 */
export async function openCalendar(options: CalendarOptions): Promise<Calendar> {
  const { store, clock, log, meter } = options
  const entries = await readEntries(options)
  const lines = makeLines(entries, clock.now())
  const runs = new Set<Promise<void>>()
  const stopping = new AbortController()
  let woken = new AbortController()
  let lastLookAt = clock.now()

  const begin = (place: JobTurn) => {
    const run = serve(place).finally(() => {
      runs.delete(run)
      woken.abort()
    })
    runs.add(run)
  }
  const serve = async (place: JobTurn) => {
    const { entry, ended } = place
    try {
      const run = await runOnce({ ...options, signal: stopping.signal }, place)
      showRun(meter, run)
      meter.count('posthorn_job_runs_total', { name: entry.name, result: run.result })
      ended?.resolve(run)
    } catch (error) {
      log.error({ error, job: entry.name }, 'A job cannot begin; it is tried again in a minute')
      ended?.reject(error)
      await pause(clock, lookMs, stopping.signal)
    } finally {
      lines.leave(place)
    }
  }
  const followClock = async (now: number) => {
    const backMs = lastLookAt - now
    if (backMs > 0) {
      log.warn({ backMs }, 'The clock was set back; jobs are due by the new time')
      await setBack(store, entries, { backMs, now })
      lines.setBack(now)
    }
    // Only now: if it could not be written, the next look writes it.
    lastLookAt = now
  }
  const look = async () => {
    const now = clock.now()
    await followClock(now)
    lines.join(now)
    for (const place of lines.startable(now)) begin(place)
    for (const entry of entries) showDue(meter, entry)
  }
  const keep = async () => {
    while (!stopping.signal.aborted) {
      woken = new AbortController()
      await look().catch((error: unknown) =>
        log.error({ error }, 'The calendar is looked at again'),
      )
      const waitMs = lines.untilNext(clock.now())
      await pause(clock, waitMs, AbortSignal.any([woken.signal, stopping.signal]))
    }
  }
  const kept = keep()

  return {
    runNow(name) {
      const entry = entries.find((one) => one.name === name)
      if (entry === undefined) return undefined
      const begun = lines.joinByHand(entry, clock.now())
      woken.abort()
      return begun
    },
    async close() {
      stopping.abort()
      await kept
      await Promise.all(runs)
    },
  }
}

/** Runs a job, whose row tells how it went; what fell due meanwhile counts as done. */
async function runOnce(
  deps: CalendarOptions & { signal: AbortSignal },
  { entry, dueAt }: JobTurn,
): Promise<JobRun> {
  const { name, limitMs, schedule } = entry
  let { handledUntil } = entry
  const run = await runRecorded(deps, {
    name,
    dueAt,
    limitMs,
    // A job that takes longer than the time between two runs does not run without an end.
    async alongside(tx, now) {
      handledUntil = entry.handledUntil
      if (schedule === undefined || schedule.next(handledUntil) > now) return
      handledUntil = now
      await keepHandled(tx, name, { schedule: schedule.text, until: now })
    },
  })
  entry.lostDueAt = undefined
  // As it was written with the end: what falls due before the calendar is back here still runs.
  entry.handledUntil = handledUntil
  return run
}

const slots = { short: writeSlots.shortJob, long: writeSlots.longJob } as const satisfies Record<
  JobLane,
  number
>

/** The jobs of the catalogue, each with a thread of its file in `src/jobs/`. */
export const jobsOfCalendar: readonly JobThread[] = jobNames.map((name) => ({
  name,
  slot: slots[jobCatalogue[name].lane],
}))

/** The jobs of the catalogue, with the cron expressions of the settings. */
export const calendarJobs = (settings: Config['jobs']): CalendarJob[] =>
  jobNames.map((name) => ({ name, ...jobCatalogue[name], cron: settings[name] }))

/** The jobs as the last start left them: runs that it had under way were cut off. */
async function readEntries({
  store,
  clock,
  meter,
  jobs,
  zone,
}: CalendarOptions): Promise<CalendarEntry[]> {
  const now = clock.now()
  const lost = await store.write((tx) => settleLostRuns(tx))
  const known = await readHandled(store.read)
  const entries = jobs.map((job): CalendarEntry => {
    if (job.cron === 'off') {
      return { ...job, schedule: undefined, handledUntil: now, lostDueAt: undefined }
    }
    const schedule = readSchedule(job.cron, zone)
    const handledUntil = handledAtStart(schedule, known.get(job.name), now)
    return { ...job, schedule, handledUntil, lostDueAt: lostBefore(lost.get(job.name), now) }
  })
  await store.write(async (tx) => {
    for (const { name, schedule, handledUntil: until } of entries) {
      if (schedule !== undefined) await keepHandled(tx, name, { schedule: schedule.text, until })
    }
  })
  for (const run of (await lastRuns(store.read)).values()) showRun(meter, run)
  return entries
}

/** Up to when a job's runs are done with, by a clock that has gone back by `backMs` and shows `now`. */
async function setBack(
  { write }: Store,
  entries: readonly CalendarEntry[],
  { backMs, now }: { backMs: number; now: number },
): Promise<void> {
  const changed = entries.flatMap((entry) => {
    const { schedule, handledUntil, name } = entry
    if (schedule === undefined) return []
    const until = handledAfterSetBack(schedule, handledUntil - backMs, now)
    return [{ entry, name, handled: { schedule: schedule.text, until } }]
  })
  await write(async (tx) => {
    for (const { name, handled } of changed) await keepHandled(tx, name, handled)
  })
  for (const { entry, handled } of changed) entry.handledUntil = handled.until
}

/**
 * The end and the duration of a run that is under way are not known yet, and the gauges keep those
 * of the last one.
 */
function showRun(meter: Meter, { name, beganAt, endedAt, result }: JobRun): void {
  // A job that is not set up has not failed; posthorn_backup_newest_timestamp_seconds tells that there is no backup.
  const isOk = result === 'done' || result === 'not set up'
  meter.gauge('posthorn_job_last_ok', { name }, isOk ? 1 : 0)
  if (endedAt === null) return
  meter.gauge('posthorn_job_last_end_timestamp_seconds', { name }, endedAt / 1_000)
  meter.gauge('posthorn_job_last_duration_seconds', { name }, (endedAt - beganAt) / 1_000)
}

/** A job that is off is never due and has no such gauge. */
function showDue(meter: Meter, entry: CalendarEntry): void {
  const dueAt = dueAtOf(entry)
  if (!Number.isFinite(dueAt)) return
  meter.gauge('posthorn_job_next_due_timestamp_seconds', { name: entry.name }, dueAt / 1_000)
}
