import type { Json } from '../json/index.js'
import type { RuleFault } from './fault.js'
import { instantOf } from './judge.js'
import { isVariable, type Operator, type Variable } from './rule.js'

/**
 * What a field holds, where that is known: a yes or no, a number of times, a moment, or a text. `number` and `day` are
 * for an account's own fields, whose values may be stored as texts.
 */
export type FieldKind = 'truth' | 'count' | 'time' | 'text' | 'number' | 'day'

const texts: readonly Operator[] = ['contains', 'not_contains', 'starts_with', 'ends_with']
const orders: readonly Operator[] = ['gt', 'gte', 'lt', 'lte']
const spans: readonly Operator[] = ['within', 'not_within']
const equal: readonly Operator[] = ['eq', 'neq', 'in']
const presence: readonly Operator[] = ['exists', 'is_empty']

// The operators that can decide something for each kind: a count always exists, and two times are hardly ever equal.
const fitting: Readonly<Record<FieldKind, readonly Operator[]>> = {
  truth: equal,
  count: [...equal, ...orders],
  time: [...orders, ...spans, ...presence],
  text: [...equal, ...texts, ...presence],
  number: [...equal, ...orders, ...presence],
  day: [...equal, ...orders, ...spans, ...presence],
}

const kindWords = {
  count: { says: 'this field is a number of times', code: 'number' },
  time: { says: 'this field is a time', code: 'time' },
  text: { says: 'this field is a text', code: 'text' },
  number: { says: 'this field is a number', code: 'number' },
  day: { says: 'this field is a date', code: 'date' },
} as const

/**
 * Why a well-formed comparison can decide nothing: its field never has what it asks for, or always has it. What a
 * variable holds is known only when the rule is judged.
 */
export function senseless(
  kind: FieldKind | undefined,
  operator: Operator,
  value: unknown,
): RuleFault | undefined {
  if (kind !== undefined && !fitting[kind].includes(operator)) {
    if (kind === 'truth') return holdsOrNot
    const { says, code } = kindWords[kind]
    return { message: `Expected no ${operator}: ${says}`, code }
  }
  if (presence.includes(operator) || spans.includes(operator)) return undefined
  if (isVariable(value as Json | Variable)) return undefined
  if (texts.includes(operator) && value === '') {
    return { message: `Expected a text that is not empty for ${operator}`, code: 'noValue' }
  }
  const given: unknown[] = operator === 'in' && Array.isArray(value) ? value : [value]
  const isEach = (fits: (one: unknown) => boolean) =>
    given.every((one) => fits(one) || (one === null && equal.includes(operator)))
  switch (kind) {
    case 'truth':
      return isEach((one) => typeof one === 'boolean') ? undefined : holdsOrNot
    case 'count':
      return isEach(isWhole) ? undefined : wholeWanted
    case 'number':
      return isEach(isNumber) ? undefined : numberWanted
    case 'time':
      return isEach(isInstant) ? undefined : dateWanted
    case 'day':
      return isEach(isInstant) ? undefined : dateWanted
    case 'text':
      return isEach((one) => typeof one === 'string') ? undefined : textWanted
    case undefined:
      return undefined
  }
}

const holdsOrNot: RuleFault = {
  message: 'Expected eq with true or false: this field holds or does not hold',
  code: 'truth',
}
const dateWanted: RuleFault = {
  message: 'Expected a date such as 2026-12-31, or a time such as 2026-12-31T09:00:00Z',
  code: 'aDate',
}
const wholeWanted: RuleFault = {
  message: 'Expected a whole number of 0 or more',
  code: 'wholeNumber',
}
const numberWanted: RuleFault = {
  message: 'Expected a number, such as 3 or 2.5',
  code: 'aNumber',
}
const textWanted: RuleFault = {
  message: 'Expected a text: this field is a text, and holds neither numbers nor true or false',
  code: 'text',
}

const isInstant = (value: unknown) => typeof value === 'string' && instantOf(value) !== undefined
const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isNumber = (value: unknown) =>
  typeof value === 'number' ||
  (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
