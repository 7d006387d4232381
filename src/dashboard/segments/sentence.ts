import { isDeepStrictEqual } from 'node:util'
import { afterMs, type Comparison, type Rule } from '../../rules/index.js'
import type { FieldChoice } from './choices.js'

/** A condition as it stands in the form. `group`: 0 is the rule itself, any other one in it. */
export interface ConditionRow {
  field: string
  operator: string
  value: string
  group: number
}

/** A rule as the form has it: conditions, some of them in groups. */
export interface RuleSentence {
  mode: 'all' | 'any'
  /** How the conditions of each group hang together, from the first one on. */
  modes: ('all' | 'any')[]
  rows: ConditionRow[]
}

/** How a condition is said, in the order of the select. */
export const operatorWords: Readonly<Record<string, string>> = {
  yes: 'holds',
  no: 'does not hold',
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'begins with',
  ends_with: 'ends with',
  gte: 'is at least',
  lte: 'is at most',
  gt: 'is more than, or after',
  lt: 'is less than, or before',
  within: 'was in the last',
  not_within: 'was not in the last',
  exists: 'is known',
  is_empty: 'is not known',
}

const units = [
  ['week', 'W'],
  ['day', 'D'],
  ['hour', 'H'],
] as const

/** The rule that a form says; what is wrong with a condition is the checker's to say. */
export function ruleOfSentence({ mode, modes, rows }: RuleSentence): Rule {
  const of = (group: number) => rows.filter((row) => row.group === group).map(conditionOf)
  const groups = modes.flatMap((inner, at): Rule[] => {
    const some = of(at + 1)
    return some.length === 0 ? [] : [inner === 'all' ? { all: some } : { any: some }]
  })
  const parts = [...of(0), ...groups]
  return mode === 'all' ? { all: parts } : { any: parts }
}

/** A condition as the form says it. */
export function conditionOf(row: ConditionRow): Comparison | { not: Comparison } {
  const said = comparisonOf(row)
  // What is none of several values is said by what is not one of them.
  return said.operator === 'in' && row.operator === 'neq' ? { not: said } : said
}

function comparisonOf({ field, operator, value: typed }: ConditionRow): Comparison {
  const value = typed.trim()
  if (operator === 'yes' || operator === 'no') {
    return { field, operator: 'eq', value: operator === 'yes' }
  }
  if (operator === 'exists') return { field, operator: 'exists' }
  if (operator === 'is_empty') return { field, operator: 'is_empty' }
  if (operator === 'within' || operator === 'not_within') {
    return { field, operator, value: durationOf(value) }
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

/** '30 days', '2 weeks' or ISO 8601 as a duration; what is none of them as it is, and so refused with its text. */
function durationOf(typed: string): string {
  const [, count, word = ''] = /^(\d{1,6})\s*([a-z]+)$/i.exec(typed) ?? []
  const unit = units.find(([name]) => word.toLowerCase().startsWith(name))
  if (count === undefined) return typed
  if (unit === undefined) return afterMs(typed.toLowerCase()) === undefined ? typed : shortOf(typed)
  return unit[1] === 'H' ? `PT${count}H` : `P${count}${unit[1]}`
}

const shortOf = (typed: string) => {
  const [count, letter] = [typed.slice(0, -1), typed.slice(-1).toUpperCase()]
  return 'WD'.includes(letter) ? `P${count}${letter}` : `PT${count}${letter}`
}

/** What a form shows of a rule; undefined for one that it would save otherwise, as the API may make them. */
export const sentenceOf = (rule: Rule): RuleSentence | undefined => sentenceWith(rule, exactRowOf)

/** How a condition is shown, if it can be. */
type ShowRow = (rule: Rule, group: number) => ConditionRow | undefined

function sentenceWith(rule: Rule, showRow: ShowRow): RuleSentence | undefined {
  const whole = groupOf(rule) ?? { mode: 'all' as const, parts: [rule] }
  const rows: ConditionRow[] = []
  const modes: ('all' | 'any')[] = []
  for (const part of whole.parts) {
    const inner = groupOf(part)
    if (inner !== undefined) modes.push(inner.mode)
    for (const one of inner?.parts ?? [part]) {
      const row = showRow(one, inner === undefined ? 0 : modes.length)
      if (row === undefined) return undefined
      rows.push(row)
    }
  }
  return { mode: whole.mode, modes, rows }
}

function groupOf(rule: Rule): { mode: 'all' | 'any'; parts: Rule[] } | undefined {
  if ('all' in rule) return { mode: 'all', parts: rule.all }
  return 'any' in rule ? { mode: 'any', parts: rule.any } : undefined
}

/** Of such as the form would save as they are: not one that heeds case, for example. */
const exactRowOf: ShowRow = (rule, group) => {
  const row = rowOf(rule, group)
  return row !== undefined && isDeepStrictEqual(conditionOf(row), rule) ? row : undefined
}

function rowOf(rule: Rule, group: number): ConditionRow | undefined {
  if ('not' in rule) {
    const row = rowOf(rule.not, group)
    const isIn = 'operator' in rule.not && rule.not.operator === 'in'
    return row !== undefined && isIn ? { ...row, operator: 'neq' } : undefined
  }
  if (!('field' in rule) || rule.since !== undefined) return undefined
  const { field, operator, value } = rule
  if (typeof value === 'boolean') {
    if (operator !== 'eq') return undefined
    return { field, operator: value ? 'yes' : 'no', value: '', group }
  }
  if (operator === 'in') {
    const [text, number] = Array.isArray(value) ? value : []
    const isOne = typeof text === 'string' && Number(text) === number
    return isOne ? { field, operator: 'eq', value: text, group } : undefined
  }
  const isPlain = value === undefined || typeof value === 'string' || typeof value === 'number'
  return isPlain ? { field, operator, value: spoken(operator, value), group } : undefined
}

function spoken(operator: string, value: string | number | undefined): string {
  if (operator !== 'within' && operator !== 'not_within') return String(value ?? '')
  const [, count, letter] = /^PT?(\d+)([WDH])$/.exec(String(value)) ?? []
  const unit = units.find(([, one]) => one === letter)
  return unit === undefined ? String(value) : `${count} ${unit[0]}${count === '1' ? '' : 's'}`
}

/** A rule in words, as far as the form can say it; else that it was made by the API. */
export function wordsOf(rule: Rule, choices: readonly FieldChoice[]): string {
  const sentence = sentenceWith(rule, rowOf)
  if (sentence === undefined) return 'A rule that was written for the API'
  const labelOf = (field: string) => choices.find((one) => one.value === field)?.label ?? field
  const say = ({ field, operator, value }: ConditionRow) =>
    // What holds is a sentence by itself: “Welcome” was opened.
    operator === 'yes'
      ? labelOf(field)
      : [labelOf(field), operatorWords[operator] ?? operator, value].filter(Boolean).join(' ')
  const joined = (mode: string, some: string[]) => some.join(mode === 'all' ? ' and ' : ' or ')
  const groups = sentence.modes.map((mode, at) => {
    const some = sentence.rows.filter((row) => row.group === at + 1).map(say)
    return some.length > 1 ? `(${joined(mode, some)})` : joined(mode, some)
  })
  const own = sentence.rows.filter((row) => row.group === 0).map(say)
  return joined(sentence.mode, [...own, ...groups].filter(Boolean))
}
