import { array, coerce, define, type Failure, integer, max, min, Struct, string } from 'superstruct'
import { rule } from './rule.js'

/**
 * The struct with failures that say `expected`: `described(size(string(), 1, 200), 'a string of
 * 1 to 200 characters')` fails with 'Expected a string of 1 to 200 characters'.
 * Failures of fields inside it keep their own words.
 */
export function described<T, S>(struct: Struct<T, S>, expected: string): Struct<T, S> {
  const message = `Expected ${expected}`
  return new Struct<T, S>({
    ...struct,
    *validator(value, context) {
      // Only the first: a union's others speak of its branches.
      for (const { refinement } of struct.validator(value, context)) {
        yield refinement === undefined ? { message } : { message, refinement }
        return
      }
    },
    *refiner(value, context) {
      for (const { refinement } of struct.refiner(value, context)) {
        yield refinement === undefined ? { message } : { message, refinement }
      }
    },
  })
}

/**
 * An array of at most `longest` items. Use it instead of `size(array(…))`, which looks at every
 * item before it counts them: five million of them hold up the whole server for seconds.
 */
export function listOf<T, S>(item: Struct<T, S>, longest: number, shortest = 0) {
  const list = array(item)
  const fits = (value: unknown): value is unknown[] =>
    Array.isArray(value) && value.length >= shortest && value.length <= longest
  const expected = `Expected an array of ${shortest === 0 ? 'at most' : `${shortest} to`} ${longest} items`
  return new Struct<T[], Struct<T, S>>({
    ...list,
    type: 'array',
    validator: (value) =>
      fits(value) || { message: expected, ...(Array.isArray(value) && { refinement: 'size' }) },
    entries: (value, context) => (fits(value) ? list.entries(value, context) : []),
  })
}

/**
 * The struct of an object with at least one of its fields: a change of a misspelt field must not be answered as
 * one that was made.
 */
export function atLeastOne<T, S extends object>(struct: Struct<T, S>): Struct<T, S> {
  const names = Object.keys(struct.schema)
  return refinedBy(struct, (given) =>
    names.some((name) => given[name] !== undefined)
      ? []
      : [{ message: `Expected one or more of ${names.join(', ')}` }],
  )
}

/**
 * The struct of an object without any other field: for what would be mightier if a limit that is misspelt, or newer
 * than this server, were passed over.
 */
export function noOthers<T, S extends object>(struct: Struct<T, S>): Struct<T, S> {
  const names = Object.keys(struct.schema)
  return refinedBy(struct, (given, path) =>
    Object.keys(given)
      .filter((name) => !names.includes(name))
      .map((name) => ({
        type: 'never',
        value: given[name],
        path: [...path, name],
        message: `Expected no fields other than ${names.join(', ')}`,
      })),
  )
}

/** The struct, which also fails with what `find` says is wrong with its fields together. */
function refinedBy<T, S extends object>(
  struct: Struct<T, S>,
  find: (given: Record<string, unknown>, path: readonly unknown[]) => Partial<Failure>[],
): Struct<T, S> {
  return new Struct<T, S>({
    ...struct,
    *refiner(value, context) {
      yield* struct.refiner(value, context)
      yield* find(value as Record<string, unknown>, context.path)
    },
  })
}

/** Any UUID, in upper or lower case. */
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** An id. In `params` it arrives in lower case, and anything else than a UUID is a 404. */
export const Uuid: Struct<string, null> = coerce(
  define<string>(
    'uuid',
    (value) => (typeof value === 'string' && uuidForm.test(value)) || 'Expected a UUID',
  ),
  string(),
  (value) => value.toLowerCase(),
)

/** A whole number in a query: `?limit=20`. */
export function QueryInteger(least: number, most: number): Struct<number, null> {
  const struct = coerce(max(min(integer(), least), most), string(), (text) =>
    /^-?\d{1,15}$/.test(text) ? Number(text) : text,
  )
  return described(struct, `a whole number from ${least} to ${most}`)
}

/** A switch in a query: `?includeArchived=true`, or `=1`. Anything else is refused. */
export const QueryFlag = described(
  coerce(
    define<boolean>('boolean', (value) => typeof value === 'boolean'),
    // `str(True)` of Python is `True`.
    define<string>('flag', (text) => /^(?:true|1|false|0)$/i.test(String(text))),
    (text) => /^(?:true|1)$/i.test(text),
  ),
  'true or false',
)

/**
 * An id in a body, in lower case or not: what is no UUID is the id of nothing, and so a 404 when it is
 * looked for, like one that does not exist (`decisions.md`, Names).
 */
export const BodyId = rule<string>('a UUID', (value) => typeof value === 'string')
