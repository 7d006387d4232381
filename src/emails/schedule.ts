import { dayMs, isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'

/** No mail is scheduled further ahead. */
export const mostDaysAhead = 90
const maxAheadMs = mostDaysAhead * dayMs

// ISO 8601: date and time, seconds and zone optional. Without a zone it is UTC, because a server's
// local time is nobody's. A date alone is not enough: midnight is seldom meant.
const iso =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?$/i

/**
 * The time at which a mail shall leave, or undefined for at once; throws `validation_error`. Sends have
 * a bound of 90 days, campaigns have none (interface.md, Limits).
 */
export function parseScheduledAt(
  text: string | undefined,
  now: number,
  aheadMs: number = maxAheadMs,
): number | undefined {
  if (text === undefined) return undefined
  const at = parseTime(text)
  if (at === undefined) {
    const message =
      'scheduledAt is not a date and time: expected ISO 8601, e.g. 2026-12-24T18:00:00Z'
    throw wrongTime(message, 'Write a day and a time, such as 2026-12-24 18:00')
  }
  if (at <= now) {
    const message = 'scheduledAt is in the past: expected a future time'
    throw wrongTime(message, 'This time is over: choose one to come')
  }
  if (at > now + aheadMs) {
    const message = 'scheduledAt is too far ahead: expected a time within the next 90 days'
    throw wrongTime(message, 'Choose a time within the next 90 days')
  }
  return at
}

const wrongTime = (message: string, says: string) =>
  new ApiError('validation_error', message, { slips: [{ field: 'scheduledAt', says }] })

/** ISO 8601 with date and time, in ms; undefined for anything else. */
export function parseTime(text: string): number | undefined {
  const match = iso.exec(text.trim())
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second = '00', fraction = '0', zone] = match
  const ms = fraction.padEnd(3, '0').slice(0, 3)
  const utc = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`
  const at = Date.parse(utc)
  // A day that the month does not have would be taken for one of the next month.
  if (Number.isNaN(at) || isoTime(at) !== utc) return undefined
  const offset = offsetMinutes(zone ?? 'Z')
  return offset === undefined ? undefined : at - offset * 60_000
}

/** RFC 3339 §4.2 bounds the offset; `Date.parse` alone would take more. */
function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
