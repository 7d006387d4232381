import type { Comparison, FieldKind, Rule } from '../../rules/index.js'
import { spokenDuration, typedDuration } from './durations.js'

/** A condition as it stands in the form. `group`: 0 is the rule itself, any other one in it. */
export interface ConditionRow {
  field: string
  operator: string
  value: string
  /** Of what counts events: in how long a time back, as it is typed; empty: ever. */
  since: string
  group: number
}

/** What a field of a rule holds, by its path. */
export type KindOf = (path: string) => FieldKind | undefined

/** A condition as the form says it. */
export function conditionOf(row: ConditionRow): Comparison | { not: Comparison } {
  const since = row.since.trim()
  const said = comparisonOf(row)
  const counted = since === '' ? said : { ...said, since: typedDuration(since) }
  // What is none of several values is said by what is not one of them.
  return said.operator === 'in' && row.operator === 'neq' ? { not: counted } : counted
}

function comparisonOf({ field, operator, value: typed }: ConditionRow): Comparison {
  const value = typed.trim()
  if (operator === 'yes' || operator === 'no') {
    return { field, operator: 'eq', value: operator === 'yes' }
  }
  if (operator === 'exists') return { field, operator: 'exists' }
  if (operator === 'is_empty') return { field, operator: 'is_empty' }
  if (operator === 'within' || operator === 'not_within') {
    return { field, operator, value: typedDuration(value) }
  }
  const known = operators.find((one) => one === operator) ?? 'eq'
  const isNumber = value !== '' && Number.isFinite(Number(value))
  const isOrder = orders.some((one) => one === known)
  if (isNumber && (isOrder || counts(field)))
    return { field, operator: known, value: Number(value) }
  if (isOrder) return { field, operator: known, value }
  // A field of an account's own may be a number or a text that looks like one.
  if (isNumber && (known === 'eq' || known === 'neq') && field.startsWith('contact.metadata.')) {
    return { field, operator: 'in', value: [value, Number(value)] }
  }
  return { field, operator: known, value, ignoreCase: true }
}

const orders = ['gt', 'gte', 'lt', 'lte'] as const
const operators = [
  'eq',
  'neq',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  ...orders,
] as const
const counts = (field: string) => /^(event\.|engagement\.(sent|opened|clicked)$)/.test(field)

/** How the form shows a condition; undefined for one that it has no words for. */
export function rowOf(rule: Rule, group: number): ConditionRow | undefined {
  if ('not' in rule) {
    const row = rowOf(rule.not, group)
    const isIn = 'operator' in rule.not && rule.not.operator === 'in'
    return row !== undefined && isIn ? { ...row, operator: 'neq' } : undefined
  }
  if (!('field' in rule)) return undefined
  const { field, operator, value } = rule
  const since = rule.since === undefined ? '' : spokenDuration(rule.since)
  if (typeof value === 'boolean') {
    if (operator !== 'eq') return undefined
    return { field, operator: value ? 'yes' : 'no', value: '', since, group }
  }
  if (operator === 'in') {
    const [text, number] = Array.isArray(value) ? value : []
    const isOne = typeof text === 'string' && Number(text) === number
    return isOne ? { field, operator: 'eq', value: text, since, group } : undefined
  }
  const isPlain = value === undefined || typeof value === 'string' || typeof value === 'number'
  return isPlain ? { field, operator, value: spoken(operator, value), since, group } : undefined
}

function spoken(operator: string, value: string | number | undefined): string {
  const isSpan = operator === 'within' || operator === 'not_within'
  return isSpan ? spokenDuration(String(value)) : String(value ?? '')
}
