import { define, type Failure } from 'superstruct'
import { isJsonObject } from '../json/index.js'
import { durationMs } from './duration.js'
import type { RuleFault } from './fault.js'
import { type FieldKind, senseless } from './field-kind.js'
import { instantOf } from './judge.js'
import { isVariable, type Operator, operators, type Rule } from './rule.js'

/** What a rule may have in its place. */
export interface RuleBounds {
  /** How deep it may be nested. */
  depth: number
  /** How many parts it may have. */
  parts: number
  /** How long the texts to compare with may be. */
  text?: number
  /** How many values an `in` may have. If given, other values may be neither objects nor arrays. */
  values?: number
  /** How long its JSON may be (bytes). */
  bytes?: number
  /** What is wrong with the path of a field; undefined: nothing. */
  pathFault(path: string): string | undefined
  /** What a field holds, where it is known: comparisons that can decide nothing are then refused. */
  kindOf?(path: string): FieldKind | undefined
  /** Whether a field counts what has happened, and so may have `since`. */
  counts?(path: string): boolean
}

/** A rule tree: its operators, values and the form of its fields. */
export const ruleTree = (bounds: RuleBounds) =>
  define<Rule>('rule', (value, { path }) => {
    const parts = { left: bounds.parts }
    const faults = [...faultsIn(value, path, bounds.depth, { bounds, parts })]
    if (parts.left < 0) {
      return {
        message: `Expected at most ${bounds.parts} parts`,
        code: 'tooMany',
      } satisfies RuleFault
    }
    if (faults.length > 0 || bounds.bytes === undefined) return faults
    const isShort = Buffer.byteLength(JSON.stringify(value)) <= bounds.bytes
    if (isShort) return faults
    const message = `Expected a rule of at most ${bounds.bytes} bytes of JSON`
    return { message, code: 'tooLong' } satisfies RuleFault
  })

/** The bounds, and how many more parts are allowed. */
interface Checking {
  bounds: RuleBounds
  parts: { left: number }
}

type Faults = Generator<Partial<Failure> & RuleFault>

/**
 * Depth and number are bounded before anything else: rules are judged for every event of every
 * contact, and a client's JSON may be nested a thousand deep.
 */
function* faultsIn(value: unknown, path: unknown[], depth: number, checking: Checking): Faults {
  const { bounds, parts } = checking
  parts.left -= 1
  if (parts.left < 0) return
  if (depth === 0) {
    const message = `Expected rules that are nested at most ${bounds.depth} deep`
    yield { path, value, message, code: 'tooDeep' }
    return
  }
  const kind = isJsonObject(value)
    ? (['all', 'any', 'not'] as const).find((key) => Object.hasOwn(value, key))
    : undefined
  if (!isJsonObject(value) || kind === undefined) {
    yield* faultsOf(value, path, bounds)
    return
  }
  const inner = value[kind]
  const within = [...path, kind]
  if (Object.keys(value).length > 1) {
    yield { path, value, message: `Expected "${kind}" to stand alone` }
  }
  if (kind === 'not') {
    // A single comparison inside "not" is one condition, no deeper than without the "not".
    const isOne = isJsonObject(inner) && Object.hasOwn(inner, 'field')
    yield* faultsIn(inner, within, isOne ? depth : depth - 1, checking)
  } else if (!Array.isArray(inner) || inner.length === 0) {
    yield { path: within, value: inner, message: 'Expected an array of rules', code: 'noRules' }
  } else {
    for (const [index, part] of inner.entries()) {
      yield* faultsIn(part, [...within, index], depth - 1, checking)
    }
  }
}

/** All faults of a comparison are told at once; an editor marks them in the form. */
function* faultsOf(rule: unknown, path: unknown[], bounds: RuleBounds): Faults {
  if (!isJsonObject(rule) || typeof rule.field !== 'string') {
    const message = 'Expected { field, operator, value }, or "all", "any" or "not" of such'
    yield { path, value: rule, message }
    return
  }
  const { field, operator, value, ignoreCase, since, ...others } = rule
  for (const [name, other] of Object.entries(others)) {
    const message = 'Expected no fields other than field, operator, value, ignoreCase and since'
    yield { path: [...path, name], value: other, message }
  }
  if (ignoreCase !== undefined && ignoreCase !== true) {
    yield { path: [...path, 'ignoreCase'], value: ignoreCase, message: 'Expected true' }
  }
  if (since !== undefined) {
    const wrong = sinceFault(since, bounds.counts?.(String(field)) === true)
    if (wrong !== undefined) yield { path: [...path, 'since'], value: since, ...wrong }
  }
  const fault = bounds.pathFault(String(field))
  if (fault !== undefined) {
    yield { path: [...path, 'field'], value: field, message: fault, code: 'field' }
  }
  const known = operators.find((name) => name === operator)
  if (known === undefined) {
    const message = `Expected one of ${operators.join(', ')}`
    yield { path: [...path, 'operator'], value: operator, message, code: 'operator' }
    return
  }
  const wrong =
    valueFault(known, value, Object.hasOwn(rule, 'value'), bounds) ??
    (bounds.kindOf && fault === undefined
      ? senseless(bounds.kindOf(field), known, value)
      : undefined) ??
    orderFault(known, value)
  if (wrong !== undefined) yield { path: [...path, 'value'], value, ...wrong }
}

/**
 * What an operator can compare with. A variable is only checked for its path, since its value is
 * known when a run gets there.
 */
function valueFault(
  operator: Operator,
  value: unknown,
  given: boolean,
  bounds: RuleBounds,
): RuleFault | undefined {
  if (operator === 'exists' || operator === 'is_empty') {
    if (!given) return undefined
    return {
      message: `Expected no value for ${operator}; for the opposite, put the rule into "not"`,
    }
  }
  if (!given) return { message: `Expected what ${operator} compares with`, code: 'noValue' }
  if (isVariable(value)) {
    const message = bounds.pathFault(value.var)
    return message === undefined ? undefined : { message, code: 'field' }
  }
  const most = bounds.text
  if (most !== undefined && textsIn(value).some((text) => text.length > most)) {
    return { message: `Expected texts of at most ${most} characters`, code: 'longText', most }
  }
  const isIn = operator === 'in' && Array.isArray(value)
  if (bounds.values !== undefined) {
    if (isIn && value.length > bounds.values) {
      return { message: `Expected at most ${bounds.values} values` }
    }
    const plain = isIn ? value : [value]
    if (plain.some((one) => typeof one === 'object' && one !== null)) {
      return { message: 'Expected texts, numbers, true, false or null, no objects or arrays' }
    }
  }
  switch (operator) {
    case 'in':
      return isIn ? undefined : { message: 'Expected an array for in' }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string' ? undefined : noOrder(operator)
    case 'within':
    case 'not_within':
      return typeof value === 'string' && durationMs(value)
        ? undefined
        : { message: `Expected a duration such as P30D for ${operator}`, code: 'duration' }
    case 'starts_with':
    case 'ends_with':
      return typeof value === 'string'
        ? undefined
        : { message: `Expected a string for ${operator}` }
  }
  return undefined
}

/** No value is greater or less than a text that is no date. */
const orderFault = (operator: Operator, value: unknown): RuleFault | undefined =>
  ['gt', 'gte', 'lt', 'lte'].includes(operator) &&
  typeof value === 'string' &&
  instantOf(value) === undefined
    ? noOrder(operator)
    : undefined

const noOrder = (operator: Operator): RuleFault => ({
  message: `Expected a number or a date (ISO 8601) for ${operator}`,
  code: 'numberOrDate',
})

function sinceFault(since: unknown, isCount: boolean): RuleFault | undefined {
  if (!isCount) return { message: 'Expected none: this field counts nothing' }
  return typeof since === 'string' && durationMs(since)
    ? undefined
    : { message: 'Expected a duration such as P30D', code: 'duration' }
}

/** The texts in a value: itself, or its items. */
const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
