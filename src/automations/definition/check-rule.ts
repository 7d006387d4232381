import { isJsonObject } from '../../json/index.js'
import { type Check, type SayFault, shown } from './check-fields.js'
import { type Operator, operators } from './definition.js'
import { contactFields, isVariable, mailFields } from './field.js'

// Limits of a rule tree: how deep it is nested, how many parts it has, how long a field's path is.
// They bound what one event costs.
const maxDepth = 10
const maxParts = 100
const maxPath = 256

/** Checks a rule tree: its operators, values and the form of its fields. */
export const checkRule: Check = (value, name, say) => {
  const parts = { left: maxParts, say }
  checkPart(value, name, maxDepth, parts)
  if (parts.left < 0) say(`${name}: has more than ${maxParts} parts`)
}

/**
 * Depth and number are bounded before anything else: rules are judged for every event of every
 * contact, and a client's JSON may be nested a thousand deep.
 */
function checkPart(
  value: unknown,
  name: string,
  depth: number,
  parts: { left: number; say: SayFault },
) {
  const { say } = parts
  parts.left -= 1
  if (parts.left < 0) return
  if (depth === 0) {
    say(`${name}: is nested deeper than ${maxDepth}`)
    return
  }
  const kind = isJsonObject(value)
    ? (['all', 'any', 'not'] as const).find((key) => Object.hasOwn(value, key))
    : undefined
  if (!isJsonObject(value) || kind === undefined) {
    checkComparison(value, name, say)
    return
  }
  const inner = value[kind]
  if (Object.keys(value).length > 1)
    say(`${name}: has fields beside "${kind}", which must stand alone`)
  if (kind === 'not') {
    checkPart(inner, `${name}.not`, depth - 1, parts)
  } else if (!Array.isArray(inner) || inner.length === 0) {
    say(`${name}.${kind}: expected an array of rules`)
  } else {
    for (const [index, part] of inner.entries()) {
      checkPart(part, `${name}.${kind}[${index}]`, depth - 1, parts)
    }
  }
}

/** All faults of a comparison are told at once; an editor marks them in the form. */
function checkComparison(rule: unknown, name: string, say: SayFault): void {
  if (!isJsonObject(rule) || typeof rule.field !== 'string') {
    say(`${name}: expected { field, operator, value }, or "all", "any" or "not" of such`)
    return
  }
  const { field, operator, value, ...others } = rule
  const [other] = Object.keys(others)
  if (other !== undefined)
    say(
      `${name}: ${shown(other)} is not a field of a comparison: expected field, operator and value`,
    )
  const fault = pathFault(field as string)
  if (fault !== undefined) say(`${name}: ${fault}`)
  const known = operators.find((name) => name === operator)
  if (known === undefined) {
    say(`${name}: operator: expected one of ${operators.join(', ')}`)
    return
  }
  const expected = valueFault(known, value, Object.hasOwn(rule, 'value'))
  if (expected !== undefined) say(`${name}: ${known} ${expected}`)
}

/**
 * What an operator can compare with. A variable is only checked for its path, since its value is
 * known when a run gets there.
 */
function valueFault(operator: Operator, value: unknown, given: boolean): string | undefined {
  if (operator === 'exists' || operator === 'is_empty') {
    return given ? 'takes no value; for the opposite, put the rule into "not"' : undefined
  }
  if (!given) return 'needs a value'
  if (isVariable(value)) return pathFault(value.var)
  switch (operator) {
    case 'in':
      return Array.isArray(value) ? undefined : 'needs an array'
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? undefined
        : 'needs a number or a date (ISO 8601)'
    case 'starts_with':
    case 'ends_with':
      return typeof value === 'string' ? undefined : 'needs a string'
  }
  return undefined
}

/** What is wrong with the form of a path; undefined if nothing is. */
export function pathFault(path: string): string | undefined {
  const [root, key, ...rest] = path.split('.')
  const name = shown(path)
  if (path.length > maxPath) return `field "${name}" is longer than ${maxPath} characters`
  if (path.split('.').some((part) => part === '')) return `field "${name}" has an empty part`
  switch (root) {
    case 'contact':
      if (key === 'metadata' && rest.length > 0) return undefined
      if (rest.length === 0 && contactFields.some((field) => field === key)) return undefined
      return `field "${name}" is unknown: expected one of contact.${contactFields.join(', contact.')}, contact.metadata.…`
    case 'trigger':
    case 'event':
      return key === undefined ? `field "${name}" does not name a field of the ${root}` : undefined
    case 'waits':
      return rest.length > 0 ? undefined : `field "${name}" is not of the form waits.KEY.NAME`
    case 'email':
      if (rest.length === 1 && mailFields.some((field) => field === rest[0])) return undefined
      return `field "${name}" is unknown: expected one of email.KEY.${mailFields.join(', email.KEY.')}`
  }
  return `field "${name}" must begin with contact., trigger., event., waits. or email.`
}
