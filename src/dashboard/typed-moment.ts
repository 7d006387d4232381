import { clockChangeAt, dayMs, isoTime, localTime, timeOfLocal } from '../clock/index.js'
import { ApiError } from '../errors/index.js'

/**
 * The moment of a browser's field for date and time, in a person's zone, as the API takes it. Throws a 400 beside the
 * field for what is no time, is over, or is too far ahead: in a person's words, as the API's name its own field.
 */
export function typedMoment(
  field: string,
  typed: string,
  { zone, now, mostDays }: { zone: string; now: number; mostDays?: number },
): string {
  const at = timeOfLocal(typed, zone)
  const refuse = (message: string) =>
    new ApiError('validation_error', message, {
      fields: { field },
      slips: [{ field, says: message }],
    })
  if (at === undefined)
    throw refuse('This is no date and time: choose both, or leave the field empty')
  if (at <= now) throw refuse('This time is over: choose one to come, or leave the field empty')
  if (mostDays !== undefined && at > now + mostDays * dayMs) {
    throw refuse(`This is too far ahead: choose a time within the next ${mostDays} days`)
  }
  return isoTime(at)
}

/** Said of any time of day that somebody chooses: what it means on a day on which clocks change. */
export const edgeWords =
  'When clocks change, a skipped 02:30 is 03:30, and of two the first counts.'

/** What a change of clocks makes of a moment (ms) that somebody chose in a zone; undefined: nothing. */
export function clockChangeWords(at: number, zone: string): string | undefined {
  const change = clockChangeAt(at, zone)
  if (change === undefined) return undefined
  if ('comesTwice' in change) {
    return `Clocks are set back on this day, so that this time comes twice: the ${change.comesTwice} counts.`
  }
  const [skipped, counts] = [change.skipped, localTime(at, zone)].map((time) => time.slice(11))
  return `Clocks are set forward on this day: they skip ${skipped}, which counts as ${counts}.`
}

/** The same of what is in a field; `at`: the moment that is kept, which of a time that comes twice may be the second. */
export function clockChangeTyped(
  typed: string,
  { zone, at }: { zone: string; at: number | null },
): string | undefined {
  const isKept = at !== null && localTime(at, zone) === typed
  const moment = isKept ? at : timeOfLocal(typed, zone)
  return moment === undefined ? undefined : clockChangeWords(moment, zone)
}
