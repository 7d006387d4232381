import { define, type Failure } from 'superstruct'
import { isJsonObject } from '../../json/index.js'
import { type Operator, operators, type Rule } from './definition.js'
import { contactFields, isVariable, mailFields } from './field.js'

// Limits of a rule tree: how deep it is nested, how many parts it has, how long a field's path is.
// They bound what one event costs.
const maxDepth = 10
const maxParts = 100
const maxPath = 256

/** A rule tree: its operators, values and the form of its fields. */
export const RuleTree = define<Rule>('rule', (value, { path }) => {
  const parts = { left: maxParts }
  const faults = [...faultsIn(value, path, maxDepth, parts)]
  return parts.left < 0 ? `Expected at most ${maxParts} parts` : faults
})

type Faults = Generator<Partial<Failure>>

/**
 * Depth and number are bounded before anything else: rules are judged for every event of every
 * contact, and a client's JSON may be nested a thousand deep.
 */
function* faultsIn(
  value: unknown,
  path: unknown[],
  depth: number,
  parts: { left: number },
): Faults {
  parts.left -= 1
  if (parts.left < 0) return
  if (depth === 0) {
    yield { path, value, message: `Expected rules that are nested at most ${maxDepth} deep` }
    return
  }
  const kind = isJsonObject(value)
    ? (['all', 'any', 'not'] as const).find((key) => Object.hasOwn(value, key))
    : undefined
  if (!isJsonObject(value) || kind === undefined) {
    yield* faultsOf(value, path)
    return
  }
  const inner = value[kind]
  const within = [...path, kind]
  if (Object.keys(value).length > 1) {
    yield { path, value, message: `Expected "${kind}" to stand alone` }
  }
  if (kind === 'not') {
    yield* faultsIn(inner, within, depth - 1, parts)
  } else if (!Array.isArray(inner) || inner.length === 0) {
    yield { path: within, value: inner, message: 'Expected an array of rules' }
  } else {
    for (const [index, part] of inner.entries()) {
      yield* faultsIn(part, [...within, index], depth - 1, parts)
    }
  }
}

/** All faults of a comparison are told at once; an editor marks them in the form. */
function* faultsOf(rule: unknown, path: unknown[]): Faults {
  if (!isJsonObject(rule) || typeof rule.field !== 'string') {
    const message = 'Expected { field, operator, value }, or "all", "any" or "not" of such'
    yield { path, value: rule, message }
    return
  }
  const { field, operator, value, ...others } = rule
  for (const [name, other] of Object.entries(others)) {
    const message = 'Expected no fields other than field, operator and value'
    yield { path: [...path, name], value: other, message }
  }
  const fault = pathFault(String(field))
  if (fault !== undefined) yield { path: [...path, 'field'], value: field, message: fault }
  const known = operators.find((name) => name === operator)
  if (known === undefined) {
    const message = `Expected one of ${operators.join(', ')}`
    yield { path: [...path, 'operator'], value: operator, message }
    return
  }
  const message = valueFault(known, value, Object.hasOwn(rule, 'value'))
  if (message !== undefined) yield { path: [...path, 'value'], value, message }
}

/**
 * What an operator can compare with. A variable is only checked for its path, since its value is
 * known when a run gets there.
 */
function valueFault(operator: Operator, value: unknown, given: boolean): string | undefined {
  if (operator === 'exists' || operator === 'is_empty') {
    return given
      ? `Expected no value for ${operator}; for the opposite, put the rule into "not"`
      : undefined
  }
  if (!given) return `Expected what ${operator} compares with`
  if (isVariable(value)) return pathFault(value.var)
  switch (operator) {
    case 'in':
      return Array.isArray(value) ? undefined : 'Expected an array for in'
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? undefined
        : `Expected a number or a date (ISO 8601) for ${operator}`
    case 'starts_with':
    case 'ends_with':
      return typeof value === 'string' ? undefined : `Expected a string for ${operator}`
  }
  return undefined
}

/** What the form of a path is expected to be; undefined if it is so. */
export function pathFault(path: string): string | undefined {
  const [root, key, ...rest] = path.split('.')
  if (path.length > maxPath) return `Expected a field of at most ${maxPath} characters`
  if (path.split('.').some((part) => part === '')) return 'Expected a field without an empty part'
  switch (root) {
    case 'contact':
      if (key === 'metadata' && rest.length > 0) return undefined
      if (rest.length === 0 && contactFields.some((field) => field === key)) return undefined
      return `Expected one of contact.${contactFields.join(', contact.')}, contact.metadata.…`
    case 'trigger':
    case 'event':
      return key === undefined ? `Expected a field of the ${root}: ${root}.NAME` : undefined
    case 'waits':
      return rest.length > 0 ? undefined : 'Expected a field of the form waits.KEY.NAME'
    case 'email':
      if (rest.length === 1 && mailFields.some((field) => field === rest[0])) return undefined
      return `Expected one of email.KEY.${mailFields.join(', email.KEY.')}`
  }
  return 'Expected a field that begins with contact., trigger., event., waits. or email.'
}
