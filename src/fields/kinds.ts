import {
  array,
  boolean,
  coerce,
  define,
  enums,
  type Failure,
  integer,
  literal,
  max,
  min,
  Struct,
  string,
  union,
} from 'superstruct'
import { aLine, type Expectation, suchAs } from './expectation.js'
import { type Field, field, saying } from './field.js'
import { expectationOf, failing, rule } from './rule.js'
import { type Schema, text, uuid } from './schema.js'

/** A text, whose contents the caller judges. */
export const words = (about?: string, more: Schema = {}): Field<string> =>
  field(
    rule<string>('a string', (value) => typeof value === 'string'),
    about === undefined ? { type: 'string', ...more } : text(about, more),
  )

/**
 * A text for one line of a page or header, without its outer blanks: `least` to `most` characters, without control
 * characters.
 */
export const line = (least: number, most: number, about: string): Field<string> =>
  field(
    rule<string>(
      `a string of ${least} to ${most} characters without control characters`,
      (value) => typeof value === 'string' && isLine(value.trim(), least, most),
      aLine(least, most),
    ),
    text(about, { ...(least > 0 && { minLength: least }), maxLength: most }),
  )

function isLine(given: string, least: number, most: number): boolean {
  const length = [...given].length
  return length >= least && length <= most && !/[\p{Cc}\p{Cs}]/u.test(given)
}

/**
 * Whether a text has characters that turn its direction around (U+202E), so that it looks different from what it is.
 */
export const turnsDirection = (given: string): boolean => /[\u202a-\u202e\u2066-\u2069]/.test(given)

/** A text that fits a condition; `expected` ends the sentence 'Expected …', `wanted` says it in parts. */
export const textThat = (
  expected: string,
  holds: (value: string) => boolean,
  schema: Schema,
  wanted?: Expectation,
): Field<string> =>
  field(
    rule<string>(expected, (value) => typeof value === 'string' && holds(value), wanted),
    schema,
  )

/** A whole number that JSON keeps exactly, from `least` to `most`. */
export function whole(
  about: string,
  bounds: { least?: number; most?: number } = {},
): Field<number> {
  const { least = -Infinity, most = Infinity } = bounds
  const expected = [
    'a whole number',
    ...(least > -Infinity ? [`from ${least}`] : []),
    ...(most < Infinity ? [`to ${most}`] : []),
  ].join(' ')
  return field(
    rule<number>(
      expected,
      (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
      { is: 'number', least, most },
    ),
    {
      type: 'integer',
      ...(least > -Infinity && { minimum: least }),
      ...(most < Infinity && { maximum: most }),
      description: about,
    },
  )
}

/** True or false. */
export const flag = (about: string): Field<boolean> =>
  field(described(boolean(), 'true or false'), { type: 'boolean', description: about })

/** A colour as `#rrggbb`. */
export const colour = (about: string): Field<string> =>
  textThat(
    'a colour such as #0a5a9c',
    (value) => /^#[0-9a-f]{6}$/i.test(value),
    { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$', description: about },
    suchAs('a colour', '#0a5a9c'),
  )

/** One of some words. */
export const oneOf = <const T extends string>(choices: readonly T[], about?: string): Field<T> =>
  field(described(enums(choices), eitherOf(choices), { is: 'choice' }), {
    type: 'string',
    enum: choices,
    ...(about !== undefined && { description: about }),
  })

const eitherOf = (choices: readonly string[]) =>
  choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

/** A list of `least` to `most`. */
export const list = <T>(
  item: Field<T>,
  {
    least = 0,
    most,
    about,
    examples,
  }: { least?: number; most: number; about?: string; examples?: unknown[] },
): Field<T[]> =>
  field(listOf(item.struct, most, least), {
    type: 'array',
    items: item.schema,
    ...(least > 0 && { minItems: least }),
    maxItems: most,
    ...(about !== undefined && { description: about }),
    ...(examples !== undefined && { examples }),
  }) as Field<T[]>

/** The same field, or a word that removes the value: null means absent in every body. */
export function orWord<T, const W extends string>(
  word: W,
  { expected, meaning }: { expected: string; meaning: string },
  given: Field<T>,
): Field<T | W> {
  const { description, examples: _, ...rest } = saying(given.schema, `; \`${word}\`: ${meaning}`)
  const wanted = expectationIn(given.struct)
  return field(described(union([literal(word), given.struct]), expected, wanted), {
    description,
    oneOf: [{ const: word }, rest],
  }) as Field<T | W>
}

/** What a struct expects when nothing is given. */
function expectationIn(struct: Struct<unknown, unknown>): Expectation | undefined {
  const [failure] = struct.validator(undefined, { path: [], branch: [], mask: false })
  return failure && expectationOf(failure)
}

/** A time in ISO 8601, or a word for none. */
export const timeOr = (word: string, about: string): Field<string> =>
  textThat(
    `an ISO 8601 time or "${word}"`,
    (value) =>
      value === word || (/^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))),
    {
      description: about,
      oneOf: [{ const: word }, { type: 'string', format: 'date-time' }],
    },
    suchAs('a time', '2026-12-31T09:00'),
  )

/**
 * The id of something in a body, in lower case or not. Text that is no UUID is the id of nothing, and so leads to a
 * 404 like an unknown id (`decisions.md`, Names).
 */
export const bodyId = (about: string): Field<string> =>
  textThat('a UUID', () => true, uuid(about), { is: 'choice' })

/** Any UUID, in upper or lower case. */
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * An id of something of any account; text that is no UUID is refused, as it would choose nothing.
 */
export const uuidGiven = (about: string): Field<string> =>
  textThat('a UUID', (given) => uuidForm.test(given), uuid(about), { is: 'choice' })

const Uuid: Struct<string, null> = coerce(
  define<string>(
    'uuid',
    (value) => (typeof value === 'string' && uuidForm.test(value)) || 'Expected a UUID',
  ),
  string(),
  (value) => value.toLowerCase(),
)

/** The id of something in a path, which arrives in lower case; text that is no UUID is a 404. */
export const pathId = (about: string): Field<string> => field(Uuid, uuid(about))

const QueryFlag = described(
  coerce(
    define<boolean>('boolean', (value) => typeof value === 'boolean'),
    // `str(True)` of Python is `True`.
    define<string>('flag', (text) => /^(?:true|1|false|0)$/i.test(String(text))),
    (text) => /^(?:true|1)$/i.test(text),
  ),
  'true or false',
)

/** A switch in a query: `?includeArchived=true`, or `=1`. Anything else is refused. */
export const queryFlag = (about: string): Field<boolean> =>
  field(QueryFlag, { type: 'boolean', default: false, description: about })

/** A whole number in a query: `?limit=20`. */
export const queryWhole = (
  least: number,
  most: number,
  about: string,
  usual?: number,
): Field<number> =>
  field(QueryInteger(least, most), {
    type: 'integer',
    minimum: least,
    maximum: most,
    ...(usual !== undefined && { default: usual }),
    description: about,
  })

function QueryInteger(least: number, most: number): Struct<number, null> {
  const struct = coerce(max(min(integer(), least), most), string(), (text) =>
    /^-?\d{1,15}$/.test(text) ? Number(text) : text,
  )
  return described(struct, `a whole number from ${least} to ${most}`, { is: 'number', least, most })
}

/**
 * An array of at most `longest` items. Use it instead of `size(array(…))`, which checks every item
 * before it counts them: five million of them hold up the whole server for seconds.
 */
export function listOf<T, S>(item: Struct<T, S>, longest: number, shortest = 0) {
  const list = array(item)
  const fits = (value: unknown): value is unknown[] =>
    Array.isArray(value) && value.length >= shortest && value.length <= longest
  const failure = failing(
    `an array of ${shortest === 0 ? 'at most' : `${shortest} to`} ${longest} items`,
    { is: 'list', least: shortest, most: longest },
  )
  return new Struct<T[], Struct<T, S>>({
    ...list,
    type: 'array',
    validator: (value) =>
      fits(value) || { ...failure, ...(Array.isArray(value) && { refinement: 'size' }) },
    entries: (value, context) => (fits(value) ? list.entries(value, context) : []),
  })
}

/**
 * The struct with failures that say `expected`: `described(size(string(), 1, 200), 'a string of 1 to 200
 * characters')` fails with 'Expected a string of 1 to 200 characters'. Failures of fields inside it keep their
 * own words. `wanted` says it in parts; by default with the struct's own.
 */
export function described<T, S>(
  struct: Struct<T, S>,
  expected: string,
  wanted?: Expectation,
): Struct<T, S> {
  const toldOf = (failure: Failure) => ({
    ...failing(expected, wanted ?? expectationOf(failure)),
    ...(failure.refinement !== undefined && { refinement: failure.refinement }),
  })
  return new Struct<T, S>({
    ...struct,
    *validator(value, context) {
      // Only the first failure, as a union's others are about its branches.
      for (const failure of struct.validator(value, context)) {
        yield toldOf(failure)
        return
      }
    },
    *refiner(value, context) {
      for (const failure of struct.refiner(value, context)) yield toldOf(failure)
    },
  })
}
