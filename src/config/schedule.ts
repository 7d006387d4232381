import { Cron } from 'croner'
import { dayMs } from '../clock/index.js'

/** When something is due: a cron expression, read in a zone. */
export interface Schedule {
  /** The expression with its zone: `30 2 * * * UTC`. */
  readonly text: string
  /** The first due time after `after` (both in ms, UTC). */
  next(after: number): number
  /** How long it is from the first due time after `after` to the next one, in ms. */
  period(after: number): number
}

/**
 * Reads the five fields of cron(8). Throws an `Error` that says what is wrong, also for a date that never comes.
 *
 * When clocks change, a job of certain hours runs once for each of its times: where one is skipped, at the first
 * moment after the gap; where one comes twice, at the first. One of every hour runs on evenly.
 */
export function readSchedule(expression: string, zone: string): Schedule {
  // Each cron object has a list of ten thousand years, so they may go; times that are asked for again and again are
  // remembered instead.
  let kept = new WeakRef(cronsOf(expression, zone))
  let known: { after: number; found: number } | undefined
  const next = (after: number) => {
    if (known?.after === after) return known.found
    const crons = kept.deref() ?? cronsOf(expression, zone)
    kept = new WeakRef(crons)
    const found = crons.flatMap((cron) => cron.nextRun(new Date(after))?.getTime() ?? [])
    if (found.length === 0) throw new Error(`${expression} is never due`)
    known = { after, found: Math.min(...found) }
    return known.found
  }
  // Throws for a date that never comes, such as 30 February.
  next(Date.UTC(2026, 0, 1))
  return {
    text: `${expression} ${zone}`,
    next,
    period(after) {
      const first = next(after)
      return next(first) - first
    },
  }
}

// 'croner' because it is exact at clock changes and needs no other package (`test/config/schedule.test.ts`).
/** `paused`: croner only reckons here, and starts nothing. */
const cronOf = (expression: string, zone: string) =>
  new Cron(expression, { timezone: zone, mode: '5-part', paused: true })

/**
 * For certain hours there is one cron for each time of the day: with several times in one, croner loses and doubles
 * some.
 */
function cronsOf(expression: string, zone: string): Cron[] {
  const whole = cronOf(expression, zone)
  const [minute, hour, ...days] = expression.trim().split(/\s+/)
  // Where no clock changes, or the job runs every hour, croner is right by itself.
  if (zone === 'UTC' || hour === '*') return [whole]
  const midnight = Date.UTC(2026, 0, 1)
  const daily = cronOf(`${minute} ${hour} * * *`, 'UTC')
  const times: Date[] = []
  for (let at = daily.nextRun(new Date(midnight - 1)); at !== null; at = daily.nextRun(at)) {
    if (at.getTime() >= midnight + dayMs) break
    times.push(at)
  }
  const hours = new Set(times.map((at) => at.getUTCHours()))
  if (times.length === 1 || hours.size === 24) return [whole]
  return times.map((at) => cronOf([at.getUTCMinutes(), at.getUTCHours(), ...days].join(' '), zone))
}

// A job's thread takes 0.2 s of a processor and 24 MB to start.
const leastApartMs = 600_000
// How many due times are compared: two days of the densest schedule that is allowed (144 a day).
const compared = 300
// 29 February comes after 8 years at the latest; croner looks no further than the year 3000.
const lookAheadMs = 8 * 366 * dayMs

/** What is wrong with the expression for a job, as a part of a sentence; undefined when it is good. */
export function faultOfCron(expression: string): string | undefined {
  try {
    const { next } = readSchedule(expression, 'UTC')
    const begin = Date.UTC(2026, 0, 1)
    for (let i = 0, at = next(begin); i < compared && at < begin + lookAheadMs; i++) {
      const after = next(at)
      if (after - at < leastApartMs) return 'less than 10 minutes apart'
      at = after
    }
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
