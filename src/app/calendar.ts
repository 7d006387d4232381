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
import {
  type Config,
  type JobDefinition,
  type JobLane,
  jobCatalogue,
  jobNames,
  lanes,
  readSchedule,
  type Schedule,
} from '../config/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store } from '../store/index.js'
import { longJobSlot, shortJobSlot } from './crew.js'
import { runRecorded } from './job-run.js'
import type { JobThread, JobThreads } from './job-threads.js'

/**
 * Keeps the calendar: looks every minute, and when a job falls due, and starts what is due.
 *
 * Bree starts the threads, but by this calendar's word: its own timers read the system's time and no `Clock`, know
 * no run that was missed while the machine slept or was off, and 'later', which reads its cron expressions, runs a
 * job of 02:30 not at all on the day on which clocks skip that time.
 */
export interface Calendar {
  /** Starts a job by hand, at once or as the next one; undefined when there is no such job. */
  runNow(name: string): StartedByHand | undefined
  /** Starts no more; resolves when the rows of the runs under way are written, which the end of the threads brings. */
  close(): Promise<void>
}

export type StartedByHand =
  | { kind: 'under way'; since: number }
  /** `behind`: the job that has to end first. */
  | { kind: 'started'; behind: string | undefined; ended: Promise<JobRun> }

export interface CalendarOptions {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  threads: Pick<JobThreads, 'run'>
  jobs: readonly CalendarJob[]
  zone: string
}

export interface CalendarJob extends Pick<JobDefinition, 'limitMs' | 'lane'> {
  name: string
  /** A cron expression, or 'off': then it runs by hand alone. */
  cron: string
}

interface Entry extends CalendarJob {
  /** Undefined: off. */
  schedule: Schedule | undefined
  handledUntil: number
  /** The due time of a run that was cut off, until it is made up for. */
  lostDueAt: number | undefined
}

/** A run that is to begin, in the line of its lane, or that is under way. */
interface Place {
  entry: Entry
  dueAt: number | null
  notBefore: number
  beganAt: number | undefined
  ended: { resolve(run: JobRun): void; reject(error: unknown): void } | undefined
}

const slots = { short: shortJobSlot, long: longJobSlot } as const satisfies Record<JobLane, number>
// So late may a clock that jumped, or a machine that slept, be noticed.
const lookMs = 60_000
// Runs that were missed come one after another, and when a start has settled.
const isLateMs = 2 * lookMs
const settleMs = 60_000
const apartMs = 10_000

export async function openCalendar(options: CalendarOptions): Promise<Calendar> {
  const { store, clock, log, meter } = options
  const entries = await readEntries(options)
  const lines = makeLines(entries, clock.now())
  const runs = new Set<Promise<void>>()
  const stopping = new AbortController()
  let woken = new AbortController()
  let lastLookAt = clock.now()

  const begin = (place: Place) => {
    const run = serve(place).finally(() => {
      runs.delete(run)
      woken.abort()
    })
    runs.add(run)
  }
  const serve = async (place: Place) => {
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
    lastLookAt = now
    if (backMs <= 0) return
    log.warn({ backMs }, 'The clock was set back; jobs are due by the new time')
    await setBack(store, entries, { backMs, now })
    lines.setBack(now)
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

/** Runs a job, whose row tells how that went, and takes what fell due meanwhile for dealt with. */
async function runOnce(
  deps: CalendarOptions & { signal: AbortSignal },
  { entry, dueAt }: Place,
): Promise<JobRun> {
  const { name, limitMs, schedule } = entry
  const run = await runRecorded(deps, {
    ...{ name, dueAt, limitMs },
    async alongside(tx, now) {
      if (schedule === undefined || schedule.next(entry.handledUntil) > now) return
      await keepHandled(tx, name, { schedule: schedule.text, until: now })
    },
  })
  entry.lostDueAt = undefined
  // A job that takes longer than its schedule leaves time does not run without an end.
  if (schedule !== undefined && schedule.next(entry.handledUntil) <= deps.clock.now()) {
    entry.handledUntil = deps.clock.now()
  }
  return run
}

/**
 * The runs that are to begin and those under way, a line for each lane:
 *
 *     due (`join`), or asked for (`joinByHand`) → waits until `notBefore` and its lane is free → `startable`
 *     → under way → `leave`
 *
 * A job is in at most one place, so it never runs beside itself; one run of a lane is under way at a time.
 */
function makeLines(entries: readonly Entry[], startedAt: number) {
  const places: Place[] = []
  let lastLateAt = startedAt + settleMs - apartMs
  const placeOf = (entry: Entry) => places.find((place) => place.entry === entry)
  const underWay = (lane: JobLane) =>
    places.find(({ entry, beganAt }) => entry.lane === lane && beganAt !== undefined)
  const leave = (place: Place) => void places.splice(places.indexOf(place), 1)

  return {
    leave,
    /** Those that have fallen due join; what was missed begins one after another, and not at once. */
    join(now: number) {
      for (const entry of entries) {
        const dueAt = dueAtOf(entry)
        if (dueAt > now || placeOf(entry) !== undefined) continue
        const isLate = now - dueAt > isLateMs
        if (isLate) lastLateAt = Math.max(lastLateAt + apartMs, now)
        const notBefore = isLate ? lastLateAt : now
        places.push({ entry, dueAt, notBefore, beganAt: undefined, ended: undefined })
      }
    },
    /** An operator asks for it: it comes before all that wait, in place of its own that waits. */
    joinByHand(entry: Entry, now: number): StartedByHand {
      const waiting = placeOf(entry)
      if (waiting?.beganAt !== undefined) return { kind: 'under way', since: waiting.beganAt }
      if (waiting !== undefined) leave(waiting)
      const behind = underWay(entry.lane)?.entry.name
      const ended = new Promise<JobRun>((resolve, reject) => {
        const place = { entry, dueAt: waiting?.dueAt ?? null, notBefore: now }
        places.unshift({ ...place, beganAt: undefined, ended: { resolve, reject } })
      })
      // Who asks may be gone by then.
      ended.catch(() => {})
      return { kind: 'started', behind, ended }
    },
    /** At most one of each lane; they are under way from now on. */
    startable(now: number): Place[] {
      return lanes.flatMap((lane) => {
        if (underWay(lane) !== undefined) return []
        const next = places.find(({ entry, notBefore }) => entry.lane === lane && notBefore <= now)
        if (next === undefined) return []
        next.beganAt = now
        return [next]
      })
    },
    /** In how many milliseconds something may begin, or the clock is to be looked at. */
    untilNext(now: number): number {
      const times = entries.filter((entry) => placeOf(entry) === undefined).map(dueAtOf)
      for (const { entry, beganAt, notBefore } of places) {
        if (beganAt === undefined && underWay(entry.lane) === undefined) times.push(notBefore)
      }
      return Math.max(1, Math.min(lookMs, ...times.map((at) => at - now)))
    },
    /** The clock was set back to `now`: nobody waits for a time that is hours away by it. */
    setBack(now: number) {
      for (const place of places) place.notBefore = Math.min(place.notBefore, now + settleMs)
      lastLateAt = Math.min(lastLateAt, now)
    },
  }
}

/** The jobs of the catalogue, each with a thread of its file in `src/jobs/`. */
export const jobsOfCalendar: readonly JobThread[] = jobNames.map((name) => ({
  name,
  slot: slots[jobCatalogue[name].lane],
}))

/** The same as the settings have them. */
export const calendarJobs = (settings: Config['jobs']): CalendarJob[] =>
  jobNames.map((name) => ({ name, ...jobCatalogue[name], cron: settings[name] }))

const dueAtOf = ({ schedule, handledUntil, lostDueAt }: Entry): number =>
  lostDueAt ?? schedule?.next(handledUntil) ?? Number.POSITIVE_INFINITY

/** As the last start has left them: what it had under way was cut off. */
async function readEntries({ store, clock, meter, jobs, zone }: CalendarOptions): Promise<Entry[]> {
  const now = clock.now()
  const lost = await store.write((tx) => settleLostRuns(tx))
  const known = await readHandled(store.read)
  const entries = jobs.map((job): Entry => {
    if (job.cron === 'off') {
      return { ...job, schedule: undefined, handledUntil: now, lostDueAt: undefined }
    }
    const schedule = readSchedule(job.cron, zone)
    const handledUntil = handledAtStart(schedule, known.get(job.name), now)
    return { ...job, schedule, handledUntil, lostDueAt: lost.get(job.name) }
  })
  await store.write(async (tx) => {
    for (const { name, schedule, handledUntil: until } of entries) {
      if (schedule !== undefined) await keepHandled(tx, name, { schedule: schedule.text, until })
    }
  })
  for (const run of (await lastRuns(store.read)).values()) showRun(meter, run)
  return entries
}

/** What a job is through with, by a clock that has gone back by `backMs` and shows `now`. */
async function setBack(
  { write }: Store,
  entries: readonly Entry[],
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

function showRun(meter: Meter, { name, beganAt, endedAt, result }: JobRun): void {
  meter.gauge('posthorn_job_last_ok', { name }, result === 'done' ? 1 : 0)
  if (endedAt === null) return
  meter.gauge('posthorn_job_last_end_timestamp_seconds', { name }, endedAt / 1_000)
  meter.gauge('posthorn_job_last_duration_seconds', { name }, (endedAt - beganAt) / 1_000)
}

function showDue(meter: Meter, entry: Entry): void {
  const dueAt = dueAtOf(entry)
  if (!Number.isFinite(dueAt)) return
  meter.gauge('posthorn_job_next_due_timestamp_seconds', { name: entry.name }, dueAt / 1_000)
}
