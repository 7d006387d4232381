import type { Json } from '../json/index.js'
import { instantOf } from './judge.js'
import { isVariable, type Operator, type Variable } from './rule.js'

/** What a field holds, where that is known: whether something is so, a time, or a text. */
export type FieldKind = 'truth' | 'time' | 'text'

const texts: readonly Operator[] = ['contains', 'not_contains', 'starts_with', 'ends_with']
const orders: readonly Operator[] = ['gt', 'gte', 'lt', 'lte']
const spans: readonly Operator[] = ['within', 'not_within']

/**
 * Why a comparison that is well formed can decide nothing: its field never has what it asks for, or every text has it. What
 * a variable holds is known when somebody gets there.
 */
export function senseless(
  kind: FieldKind | undefined,
  operator: Operator,
  value: unknown,
): string | undefined {
  if (operator === 'exists' || operator === 'is_empty') return undefined
  if (isVariable(value as Json | Variable)) return undefined
  if (texts.includes(operator) && value === '')
    return `Expected a text that is not empty for ${operator}`
  const given: unknown[] = operator === 'in' && Array.isArray(value) ? value : [value]
  const isBare =
    !texts.includes(operator) && !orders.includes(operator) && !spans.includes(operator)
  switch (kind) {
    case 'truth':
      if (isBare && given.every((one) => typeof one === 'boolean' || one === null)) return undefined
      return 'Expected eq with true or false: this field holds or does not hold'
    case 'time':
      if (texts.includes(operator)) return `Expected no ${operator}: this field is a time`
      if (spans.includes(operator)) return undefined
      if (given.every((one) => one === null || isInstant(one))) return undefined
      return 'Expected a date such as 2026-12-31, or a time such as 2026-12-31T09:00:00Z'
    case 'text':
      if (orders.includes(operator) || spans.includes(operator)) {
        return `Expected no ${operator}: this field is a text`
      }
      return given.some((one) => typeof one === 'boolean')
        ? 'Expected a text: this field does not hold true or false'
        : undefined
  }
  return undefined
}

const isInstant = (value: unknown) => typeof value === 'string' && instantOf(value) !== undefined
