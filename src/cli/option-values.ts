import { InvalidArgumentError, Option } from 'commander'
import { beginOfDay } from '../clock/index.js'
import { settings } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { type Field, parsed, queryWhole, reading, span as spanField } from '../fields/index.js'

/**
 * Readers for values of options and arguments that are more than text; Commander reads words to choose from
 * (`choices`). A value that does not fit ends the command with status 2 before anything is opened. Commander
 * says whose value it is and what was given ("option '--limit <count>' argument 'x' is invalid."), and a reader
 * here says what was expected. The readers are fields, as in the API and the settings, so that the same forms
 * hold in all three.
 */
export type ValueReader<T> = (text: string) => T

/** The refusal of a value; `expected` follows "It must be". */
export const mustBe = (expected: string) => new InvalidArgumentError(`It must be ${expected}.`)

/** Reads by a field; `wording` replaces the field's own text about what it expects. */
export const readBy =
  <T>(field: Field<T>, wording?: string): ValueReader<T> =>
  (text) => {
    const result = reading(text, field)
    if ('value' in result) return result.value
    throw mustBe(wording ?? result.expected)
  }

/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number) => readBy(queryWhole(min, max, ''))

// Fifteen digits are exact in a JavaScript number, and no table has more rows.
const manyRows = 999_999_999_999_999

/** A number of things, or a position in a series that begins with 1. */
export const count = readBy(queryWhole(1, manyRows, ''), 'a whole number of 1 or more')

/** A version, or the word for the newest one, which is known only once the database is open. */
export const versionOrLatest: ValueReader<number | 'latest'> = (text) =>
  text === 'latest' ? text : numberOrLatest(text)

const numberOrLatest = readBy(
  queryWhole(1, manyRows, ''),
  "a whole number of 1 or more, or 'latest'",
)

/** `--limit`, of every command that lists. */
export const limitOption = (usual = 50, about = 'how many at most') =>
  new Option('--limit <count>', about).default(usual).argParser(count)

/** A port to listen on; 0 lets the system choose a free one. */
export const port = wholeNumber(0, 65_535)

/** Seconds, also with a fraction. */
export const seconds = (min: number, max: number): ValueReader<number> =>
  readBy(
    parsed(`a number of seconds from ${min} to ${max}`, (text) => {
      const value = /^\d{1,6}(\.\d{1,3})?$/.test(String(text)) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : undefined
    }),
  )

/** A duration such as `90s`, `30m`, `2h`, `3d`, in ms; `such` stands in the refusal as an example. */
export const span = (such: string, min: string, max: string) => readBy(spanField(min, max, such))

/**
 * A time in ms: a day, or a day with an hour, as ISO 8601 writes it. `Date.parse` would also take
 * 1/12/2026, which is January to some and December to others.
 */
export const time = readBy(
  parsed('a time such as 2026-12-01 or 2026-12-01T09:00:00Z', (text) => timeIn(String(text))),
)

const isoTimes = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** The written time in ms, in UTC if no zone is named; undefined for text that is no time. */
function timeIn(text: string): number | undefined {
  const [, day, hour, , , zone] = isoTimes.exec(text) ?? []
  if (day === undefined || beginOfDay(day) === undefined) return undefined
  const at = Date.parse(hour !== undefined && zone === undefined ? `${text}Z` : text)
  return Number.isNaN(at) ? undefined : at
}

/** When something ends, in ms: a time, or a span after the `now` that the command works with. */
export function endTime(min: string, max: string): ValueReader<(now: number) => number> {
  const lengths = spanField(min, max, '90d')
  return (text) => {
    const length = reading(text, lengths)
    if ('value' in length) return (now) => now + length.value
    const at = timeIn(text)
    if (at !== undefined) return () => at
    throw mustBe(
      `a time such as 2027-01-31 or 2027-01-31T12:00:00Z, or a duration from ${min} to ${max} such as 90d`,
    )
  }
}

/** Several words with commas between them, as the API's queries have them. */
export const severalOf =
  <const T extends string>(words: readonly T[]): ValueReader<T[]> =>
  (text) =>
    text.split(',').map((given) => {
      const known = words.find((word) => word === given.trim())
      if (known !== undefined) return known
      throw mustBe(`one or more of ${words.join(', ')}, with commas between them`)
    })

/** An option that may be repeated: Commander hands over the values before. */
export const repeated =
  <T>(read: ValueReader<T>) =>
  (text: string, before: readonly T[] = []): T[] => [...before, read(text)]

/** Text as it was typed, for `repeated`. */
export const asTyped: ValueReader<string> = (text) => text

/** `name=value`; the value may be empty and have further equal signs. */
export const nameAndValue: ValueReader<[name: string, value: string]> = (text) => {
  const at = text.indexOf('=')
  if (at < 1) throw mustBe('name=value')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The number of a row that an operator names; throws `unknown` for text that can be no row's number. */
export function rowNumber(given: string, unknown: (given: string) => Error): number {
  if (isRowNumber(given)) return Number(given)
  throw unknown(given)
}

/**
 * Whether the text may be the number of a row: digits, and not more than a number holds exactly.
 */
export const isRowNumber = (given: string): boolean => /^\d{1,15}$/.test(given)

/**
 * The address of a PostgreSQL, without its password: every user of the machine can read a command line. A fault in it
 * never becomes Commander's error, which would repeat the address.
 */
export function storeUrl(value: string): string {
  const read = settings.store.url.read(value)
  if ('expected' in read) {
    throw new OperatorError(`The address has to be ${read.expected}, and not ${read.given}`, {
      status: 2,
    })
  }
  if (/:\/\/[^@/?]*:[^@/?]*@/.test(value)) {
    throw new OperatorError(
      'The address has a password, which every user of this machine could read here: --password-file or store.password_file names a file for it, or POSTHORN_STORE_URL has the whole address',
    )
  }
  return value
}
