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

/** A duration as the form shows it; for anything else the typed text. */
export function typedDuration(duration: string): TypedDuration {
  const ms = durationMs(duration)
  // A number with one unit stays as it was typed: two weeks may be written as 14 days, and nobody types one to read the
  // other.
  const [, amount = duration, unit = 'D'] = /^PT?(.*)([WDHMS])$/.exec(duration) ?? []
  if (ms === undefined || /^\d+$/.test(amount)) return { amount, unit }
  const fits = units.find((one) => ms % one.ms === 0)
  return fits === undefined
    ? { amount: duration, unit: 'D' }
    : { amount: String(ms / fits.ms), unit: fits.value }
}

/** The typed duration in ISO 8601; a text that is no number is refused later, in its own words. */
export function durationOf({ amount, unit }: TypedDuration): string {
  const typed = amount.trim()
  const known = units.find(({ value }) => value === unit)?.value ?? 'D'
  return known === 'W' || known === 'D' ? `P${typed}${known}` : `PT${typed}${known}`
}
