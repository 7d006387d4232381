import { durationMs } from '../../rules/index.js'

/** A length of time as a form asks for it. */
export interface TypedDuration {
  amount: string
  unit: string
}

const units = [
  { value: 'W', label: 'weeks', ms: 7 * 86_400_000 },
  { value: 'D', label: 'days', ms: 86_400_000 },
  { value: 'H', label: 'hours', ms: 3_600_000 },
  { value: 'M', label: 'minutes', ms: 60_000 },
  { value: 'S', label: 'seconds', ms: 1_000 },
] as const

export const unitChoices = units.map(({ value, label }) => ({ value, label }))

/** What the form shows of a duration; of one that is none the text that was typed. */
export function typedDuration(duration: string): TypedDuration {
  const ms = durationMs(duration)
  // Whole days are said as days, though they be weeks: nobody types 2 weeks and reads 14 days, but the other way round.
  const [, amount = duration, unit = 'D'] = /^PT?(.*)([WDHMS])$/.exec(duration) ?? []
  if (ms === undefined || /^\d+$/.test(amount)) return { amount, unit }
  const fits = units.find((one) => ms % one.ms === 0)
  return fits === undefined
    ? { amount: duration, unit: 'D' }
    : { amount: String(ms / fits.ms), unit: fits.value }
}

/** The duration that was typed, in ISO 8601; what is no number is refused later, with its words. */
export function durationOf({ amount, unit }: TypedDuration): string {
  const typed = amount.trim()
  const known = units.find(({ value }) => value === unit)?.value ?? 'D'
  return known === 'W' || known === 'D' ? `P${typed}${known}` : `PT${typed}${known}`
}
