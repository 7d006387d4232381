import type { Json } from '../json/index.js'

/** A value that is known only when the rule is judged: the path of a field, such as `trigger.cartId`. */
export interface Variable {
  var: string
}

/** How a rule may compare; `judge.ts` says what each means. */
export const operators = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'exists',
  'is_empty',
  'within',
  'not_within',
] as const
export type Operator = (typeof operators)[number]

/** `exists` and `is_empty` have no value; `in` has an array, `within` a duration back from now (ISO 8601). */
export interface Comparison {
  field: string
  operator: Operator
  value?: Json | Variable
  /** Texts are compared ignoring case. */
  ignoreCase?: true
  /** For a field that counts what has happened: counts only what happened within this duration. */
  since?: string
}
/** A condition: a comparison, or several combined. */
export type Rule = Comparison | { all: Rule[] } | { any: Rule[] } | { not: Rule }

/** All comparisons of a rule, in its order. */
export function comparisonsOf(rule: Rule): Comparison[] {
  if ('all' in rule) return rule.all.flatMap(comparisonsOf)
  if ('any' in rule) return rule.any.flatMap(comparisonsOf)
  if ('not' in rule) return comparisonsOf(rule.not)
  return [rule]
}

/** Only an object with nothing but `var` names a field; any other object is a plain value. */
export function isVariable(value: unknown): value is Variable {
  if (typeof value !== 'object' || value === null) return false
  const keys = Object.keys(value)
  return keys.length === 1 && keys[0] === 'var' && typeof Reflect.get(value, 'var') === 'string'
}
