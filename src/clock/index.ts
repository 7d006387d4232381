export {
  type CalendarDay,
  calendarDayOf,
  type DayReached,
  nextOnDay,
  type OnDay,
} from './on-day.js'
export { type CpuClock, cpuFileOfThread, openCpuClock } from './thread-cpu.js'
export {
  isTimeOfDay,
  isWindowEnd,
  nextTimeOfDay,
  openWindow,
  type TimeOfDay,
  type Window,
  windowOpens,
} from './window.js'
export { clockChangeAt, isZone, localTime, temporal, timeOfLocal } from './zone.js'

/**
 * The only source of time. Domain code gets a `Clock` passed in, so that tests can move it;
 * nothing else in `src` reads the system's time or sets a timer for domain work.
 */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
  /** Calls `wake` once after `delayMs`; the returned function takes it back. Keeps the process alive. */
  after(delayMs: number, wake: () => void): () => void
}

// setTimeout's ceiling: anything longer would fire at once.
const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, wake) {
    const timer = setTimeout(wake, Math.min(Math.max(0, delayMs), maxTimerMs))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`, or at once when `signal` aborts (it never rejects). */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    const stop = () => {
      cancel()
      resolve()
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** 24 hours in ms: a day of UTC, which knows no summer time. */
export const dayMs = 86_400_000

export const hourMs = 3_600_000

/** The day of UTC in which a time lies, counted from 1970-01-01, which is 0. */
export const dayNumber = (ms: number): number => Math.floor(ms / dayMs)

/**
 * Whether `at` is less than `withinMs` from `now`, before it or after it. For what is not to be done again so soon
 * after `at`. If the clock was set back since, `now - at` is negative for as long as the clock was ahead, and a
 * comparison of that alone would wait for all of this time.
 */
export const isRecent = (at: number, now: number, withinMs: number): boolean =>
  Math.abs(now - at) < withinMs

/**
 * Whether something is due that may be put off by `longestMs` at most. If it would have to wait even longer, the clock
 * was ahead when it was put off. Infinity is no time, and so not due.
 */
export const isDueBy = (dueAt: number, now: number, longestMs: number): boolean =>
  dueAt <= now || (dueAt > now + longestMs && Number.isFinite(dueAt))

/** A time as the API writes it: ISO 8601 in UTC with milliseconds; null stays null. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** The day of a time in UTC: `2026-11-21`. */
export function isoDay(ms: number): string {
  const number = dayNumber(ms)
  // Every mail is counted by its day, and nearly all by the same one.
  if (number !== lastDay.number) {
    lastDay = { number, text: new Date(ms).toISOString().slice(0, 10) }
  }
  return lastDay.text
}

let lastDay = { number: Number.NaN, text: '' }

/** When a day such as `2026-11-21` begins, in ms; undefined for a text that is no day, such as 30 February. */
export function beginOfDay(text: string): number | undefined {
  // `Date.parse` takes 30 February for 2 March.
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && isoDay(at) === text ? at : undefined
}

/** A time as people read it: `2026-11-21 04:51 UTC`; `unknown` for a number that is no time. */
export const utcTime = (ms: number) =>
  isTime(ms) ? `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC` : 'unknown'

/**
 * Whether a number is a time. The number in a damaged row, or in one that another program wrote, may be none: `Date`
 * throws for it (ECMA-262, time values).
 */
export const isTime = (ms: number) => Math.abs(ms) <= 8.64e15

/** `3 s`, `12 min`, `5 h`, `3 days`. */
export function shownFor(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400).toLocaleString('en-GB')} days`
}

/** Work that comes again until it is stopped; `stop` resolves when the run under way has ended. */
export interface Repeating {
  stop(): Promise<void>
}

/**
 * Runs `work` at once, and again after each run, as many milliseconds after its end as it resolves with. A run that
 * rejects ends the process: only the caller knows what its faults mean.
 */
export function repeat(clock: Clock, work: () => Promise<number>): Repeating {
  let stopped = false
  let cancel = () => {}
  const run = async () => {
    const restMs = await work()
    if (stopped) return
    cancel = clock.after(restMs, () => {
      running = run()
    })
  }
  let running = run()
  return {
    async stop() {
      stopped = true
      cancel()
      await running
    },
  }
}
