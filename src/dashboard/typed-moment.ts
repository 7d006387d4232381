import { dayMs, isoTime, timeOfLocal } from '../clock/index.js'
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
