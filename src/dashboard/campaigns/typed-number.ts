import { ApiError } from '../../errors/index.js'
import { shown } from './words.js'

// More than that nobody sends to by one wrong click.
const typedAbove = 1_000

/** Whether so many people are to be typed before something goes to them. */
export const isTypedFor = (people: number): boolean => people > typedAbove

/** Throws a 400 at the field where the number of people has to be typed, and is not. */
export function refuseUntyped(people: number, typed: string, field: string): void {
  if (!isTypedFor(people) || typed.replace(/\D/g, '') === String(people)) return
  const message = `Type ${shown(people)}, the number of people who get it`
  throw new ApiError('validation_error', message, { fields: { field } })
}
