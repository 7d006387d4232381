import { optional as absentOr, define, type Struct } from 'superstruct'
import type { Expectation } from './expectation.js'

type Condition = (value: unknown) => boolean

const conditions = new WeakMap<object, Condition>()

// A file of its own, so that bundles that only describe values, as settings do, need no superstruct.
/**
 * The struct of a value that fits a condition; `expected` ends its failure's sentence 'Expected …', `wanted` says it in
 * parts.
 */
export function rule<T>(expected: string, holds: Condition, wanted?: Expectation): Struct<T, null> {
  const failure = failing(expected, wanted)
  return knownBy(
    define<T>(expected, (value) => holds(value) || failure),
    holds,
  )
}

/** What a struct yields for a value that does not fit. superstruct copies the parts into its own failure. */
export const failing = (expected: string, wanted: Expectation | undefined): Failing =>
  wanted === undefined
    ? { message: `Expected ${expected}` }
    : { message: `Expected ${expected}`, wanted }

/** Which fault it is, where its checker has said so: pages have words of their own for it, with what these name. */
export interface FaultCode {
  code?: string | undefined
  name?: string | undefined
  most?: number | undefined
}

/** What a checker has said of a failure beside its sentence. */
export function faultCodeOf(failure: object): FaultCode | undefined {
  const { code, name, most } = failure as FaultCode
  return code === undefined ? undefined : { code, name, most }
}

interface Failing {
  message: string
  wanted?: Expectation
}

/** The parts of a failure, if its struct gave them. */
export const expectationOf = (failure: object): Expectation | undefined =>
  (failure as Failing).wanted

/** superstruct's `optional`, which also keeps the struct's known condition. */
export function optional<T, S>(struct: Struct<T, S>): Struct<T | undefined, S> {
  const condition = conditionOf(struct)
  const made = absentOr(struct)
  return condition === undefined
    ? made
    : knownBy(made, (value) => value === undefined || condition(value))
}

/**
 * The struct, known to accept exactly the values for which the condition holds: a caller that needs no reasons
 * can skip superstruct's generators, several for each field.
 */
export function knownBy<S extends object>(struct: S, condition: Condition): S {
  conditions.set(struct, condition)
  return struct
}

/** A struct's known condition, if one was given. */
export const conditionOf = (struct: object): Condition | undefined => conditions.get(struct)
