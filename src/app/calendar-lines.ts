import type { JobRun } from '../calendar/index.js'
import { type JobDefinition, type JobLane, lanes, type Schedule } from '../config/index.js'

export interface CalendarJob extends Pick<JobDefinition, 'limitMs' | 'lane'> {
  name: string
  /** A cron expression, or 'off': then it runs only by hand. */
  cron: string
}

export interface CalendarEntry extends CalendarJob {
  /** Undefined: off. */
  schedule: Schedule | undefined
  handledUntil: number
  /** The due time of a run that was cut off, until it is made up for. */
  lostDueAt: number | undefined
}

/** A run that is to begin, in the line of its lane, or that is under way. */
export interface JobTurn {
  entry: CalendarEntry
  dueAt: number | null
  notBefore: number
  beganAt: number | undefined
  /** For a run that was asked for by hand: tells everybody who has asked. */
  ended: Asked | undefined
}

interface Asked {
  run: Promise<JobRun>
  resolve(run: JobRun): void
  reject(error: unknown): void
}

export type StartedByHand =
  | { kind: 'under way'; since: number }
  /** `behind`: the job that has to end first. */
  | { kind: 'started'; behind: string | undefined; ended: Promise<JobRun> }

// How late the calendar may notice that a clock jumped or a machine slept.
export const lookMs = 60_000
// Missed runs come one after another, and not before a start has settled.
const isLateMs = 2 * lookMs
const settleMs = 60_000
const apartMs = 10_000

/**
 * The runs that are to begin and those under way, a line for each lane:
 *
 *     due (`join`), or asked for (`joinByHand`) → waits until `notBefore` and its lane is free → `startable`
 *     → under way → `leave`
 *
 * A job is in at most one place, so it never runs beside itself; one run of a lane is under way at a time.
 */
export function makeLines(entries: readonly CalendarEntry[], startedAt: number) {
  const places: JobTurn[] = []
  let lastLateAt = startedAt + settleMs - apartMs
  const placeOf = (entry: CalendarEntry) => places.find((place) => place.entry === entry)
  const underWay = (lane: JobLane) =>
    places.find(({ entry, beganAt }) => entry.lane === lane && beganAt !== undefined)
  const leave = (place: JobTurn) => void places.splice(places.indexOf(place), 1)

  return {
    leave,
    /** Jobs that have fallen due join; missed ones begin one after another, and not at once. */
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
    /** An operator asks for it: the run comes before all that wait, and replaces the job's own that waits. */
    joinByHand(entry: CalendarEntry, now: number): StartedByHand {
      const waiting = placeOf(entry)
      if (waiting?.beganAt !== undefined) return { kind: 'under way', since: waiting.beganAt }
      if (waiting !== undefined) leave(waiting)
      const behind = underWay(entry.lane)?.entry.name
      const dueAt = waiting?.dueAt ?? null
      // Whoever has asked before hears of the same run.
      const ended = waiting?.ended ?? makeAsked()
      places.unshift({ entry, dueAt, notBefore: now, beganAt: undefined, ended })
      return { kind: 'started', behind, ended: ended.run }
    },
    /** At most one of each lane; they are under way from now on. */
    startable(now: number): JobTurn[] {
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
    /** To be called when the clock was set back to `now`: no job waits for the hours that come again. */
    setBack(now: number) {
      for (const place of places) place.notBefore = Math.min(place.notBefore, now + settleMs)
      // A run that was cut off while the clock was ahead does not wait for that time to come.
      for (const entry of entries) entry.lostDueAt = lostBefore(entry.lostDueAt, now)
      lastLateAt = Math.min(lastLateAt, now)
    },
  }
}

function makeAsked(): Asked {
  let resolve: Asked['resolve'] = () => {}
  let reject: Asked['reject'] = () => {}
  const run = new Promise<JobRun>((done, failed) => {
    resolve = done
    reject = failed
  })
  // Whoever asked may be gone by then.
  run.catch(() => {})
  return { run, resolve, reject }
}

/** When a run that was cut off was due: in the past, whatever clock it began by. */
export const lostBefore = (dueAt: number | undefined, now: number): number | undefined =>
  dueAt === undefined ? undefined : Math.min(dueAt, now)

export const dueAtOf = ({ schedule, handledUntil, lostDueAt }: CalendarEntry): number =>
  lostDueAt ?? schedule?.next(handledUntil) ?? Number.POSITIVE_INFINITY
