import { optional as absentOr, define, type Struct } from 'superstruct'

type Condition = (value: unknown) => boolean

const conditions = new WeakMap<object, Condition>()

// A file of its own, so that a bundle of what only looks at JSON, as settings do, goes without superstruct.
/** The type of a value that fits a condition; `expected` ends the sentence 'Expected …' of its failure. */
export const rule = <T>(expected: string, holds: Condition): Struct<T, null> =>
  knownBy(
    define<T>(expected, (value) => holds(value) || `Expected ${expected}`),
    holds,
  )

/** superstruct's `optional`, which keeps what the struct is known by. */
export function optional<T, S>(struct: Struct<T, S>): Struct<T | undefined, S> {
  const condition = conditionOf(struct)
  const made = absentOr(struct)
  return condition === undefined
    ? made
    : knownBy(made, (value) => value === undefined || condition(value))
}

/**
 * The struct, which takes just those values for which the condition holds: whoever asks no reasons need not run
 * superstruct's generators, several for each field.
 */
export function knownBy<S extends object>(struct: S, condition: Condition): S {
  conditions.set(struct, condition)
  return struct
}

/** What a struct is known by, where that was said. */
export const conditionOf = (struct: object): Condition | undefined => conditions.get(struct)
