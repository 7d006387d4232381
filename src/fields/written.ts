import { Struct } from 'superstruct'
import { type Field, field } from './field.js'
import { textThat } from './kinds.js'

/**
 * What operators write in files, the environment and options: these kinds read a text as well as a value of TOML. No
 * document describes them, so they have no descriptions.
 */

/** A field that `parse` reads; undefined refuses the value. `expected` ends the sentence 'Expected …'. */
export const parsed = <T>(expected: string, parse: (given: unknown) => T | undefined): Field<T> =>
  field(
    new Struct<T, null>({
      type: 'parsed',
      schema: null,
      coercer: parse,
      validator: (value) => value !== undefined || `Expected ${expected}`,
    }),
    {},
  )

/** The same, for texts only. */
const parsedText = <T>(expected: string, parse: (given: string) => T | undefined) =>
  parsed(expected, (given) => (typeof given === 'string' ? parse(given) : undefined))

/** A text that fits `pattern`. */
export const textLike = (pattern: RegExp, expected: string): Field<string> =>
  textThat(expected, (given) => pattern.test(given), {})

/** True or false; `yes` and `1` are refused rather than guessed. */
export const trueOrFalse: Field<boolean> = parsed('true or false', (given) =>
  given === true || given === 'true'
    ? true
    : given === false || given === 'false'
      ? false
      : undefined,
)

/** A list of texts, or a text with commas between them. */
export const textsWritten = (
  expected = 'a list of texts',
  each: (item: string) => boolean = () => true,
): Field<readonly string[]> =>
  parsed(expected, (given) => {
    const items: unknown = typeof given === 'string' ? splitList(given) : given
    return Array.isArray(items) && items.every((item) => typeof item === 'string' && each(item))
      ? (items as string[])
      : undefined
  })

const splitList = (given: string) =>
  given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** A share above 0 such as `0.5%`, in millionths, so that it compares without rounding. */
export const share = (such: string): Field<number> =>
  parsedText(`a percentage from 0.0001% to 100%, such as "${such}"`, millionths)

/** `0.5%` is 5,000; undefined for 0, and for text that is no percentage. */
function millionths(given: string): number | undefined {
  const match = /^(\d{1,3})(?:\.(\d{1,4}))?%$/.exec(given)
  const found = Number(match?.[1]) * 10_000 + Number((match?.[2] ?? '').padEnd(4, '0'))
  return found > 0 && found <= 1_000_000 ? found : undefined
}

/** A duration such as `30s`, `5m`, `2h` or `5d`, in milliseconds. */
export function span(least: string, most: string, such: string): Field<number> {
  const bounds = { least: milliseconds(least) ?? 0, most: milliseconds(most) ?? 0 }
  return parsedText(`a duration from ${least} to ${most}, such as "${such}"`, (given) => {
    const ms = milliseconds(given)
    return ms !== undefined && ms >= bounds.least && ms <= bounds.most ? ms : undefined
  })
}

/** The same, or `forever`, which is Infinity. */
export function spanOrForever(least: string, most: string): Field<number> {
  const length = span(least, most, '30d')
  return parsed(`"forever" or a duration from ${least} to ${most}, such as "30d"`, (given) =>
    given === 'forever' ? Number.POSITIVE_INFINITY : valueIn(given, length),
  )
}

/** A list of one or more durations, each of at least `least`. */
export function spans(least: string): Field<readonly number[]> {
  const shortest = milliseconds(least) ?? 0
  return parsed(`a list of durations of at least ${least}, such as ["5m", "10m"]`, (given) => {
    const items: unknown = typeof given === 'string' ? splitList(given) : given
    if (!Array.isArray(items) || items.length === 0) return undefined
    const lengths = items.map((item) => (typeof item === 'string' ? milliseconds(item) : undefined))
    return lengths.every((ms) => ms !== undefined && ms >= shortest)
      ? (lengths as number[])
      : undefined
  })
}

const unitMs: Record<string, number> = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 }

/** `5m` is 300,000; undefined for text that is no duration. */
function milliseconds(given: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(given)
  const unit = unitMs[match?.[2] ?? '']
  return unit === undefined ? undefined : Number(match?.[1]) * unit
}

/** `5m`: written in the largest unit that gives a whole number. */
export function writtenSpan(ms: number): string {
  if (!Number.isFinite(ms)) return 'forever'
  if (ms === 0) return '0s'
  const fitting = Object.entries(unitMs).filter(([, each]) => ms % each === 0)
  const [unit, each] = fitting.at(-1) ?? ['ms', 1]
  return `${ms / each}${unit}`
}

/** The value that was read, or what was expected instead. */
export type Reading<T> = { readonly value: T } | { readonly expected: string }

/** Reads one value of a query, an option, the environment or a file. */
export function reading<T>(given: unknown, { struct }: Field<T>): Reading<T> {
  const [error, value] = struct.validate(given, { coerce: true })
  if (error === undefined) return { value: value as T }
  const [failure] = error.failures()
  // superstruct's own sentences end with the value; ours say only what was expected.
  return {
    expected: (failure?.message ?? '')
      .replace(/^Expected /, '')
      .replace(/,? but (?:received|got) .*/s, ''),
  }
}

/** What is expected when nothing is given. */
export function expectedOf(field: Field<unknown>): string {
  const result = reading(undefined, field)
  return 'expected' in result ? result.expected : 'nothing'
}

/** The value that was read, without a reason if there is none. */
function valueIn<T>(given: unknown, of: Field<T>): T | undefined {
  const result = reading(given, of)
  return 'value' in result ? result.value : undefined
}
