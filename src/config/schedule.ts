import { Cron } from 'croner'

/** When something is due: a cron expression, read in a zone. */
export interface Schedule {
  /** The expression with its zone: `30 2 * * * UTC`. */
  readonly text: string
  /** The first due time after `after` (both in ms, UTC). */
  next(after: number): number
  /** How long it is from the first due time after `after` to the one after it, in ms. */
  period(after: number): number
}

/**
 * Reads the five fields of cron(8). Throws an `Error` that says what is wrong, also for a date that never comes.
 *
 * When clocks change, a job of one time a day runs once that day: where its time is skipped, at the first
 * moment after the gap; where it comes twice, at the first one. One of every so many minutes runs on evenly.
 */
export function readSchedule(expression: string, zone: string): Schedule {
  // 'croner' because it is exact at clock changes and needs no other package; `test/calendar/schedule.test.ts`.
  const cron = new Cron(expression, { timezone: zone, mode: '5-part', paused: true })
  const next = (after: number) => {
    const found = cron.nextRun(new Date(after))
    if (found === null) throw new Error(`${expression} is never due`)
    return found.getTime()
  }
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

// A job's thread takes 0.2 s of a processor and 24 MB to start.
const leastApartMs = 600_000
const compared = 300

/** What is wrong with the expression for a job, as a part of a sentence; undefined when it is good. */
export function faultOfCron(expression: string): string | undefined {
  try {
    const { next } = readSchedule(expression, 'UTC')
    for (let i = 0, at = next(Date.UTC(2026, 0, 1)); i < compared; i++) {
      const after = next(at)
      if (after - at < leastApartMs) return 'less than 10 minutes apart'
      at = after
    }
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
