import type { Json } from '../json/index.js'
import { durationMs } from './duration.js'
import { equals, hasText, includes } from './equality.js'
import { type Comparison, isVariable, type Operator, type Rule } from './rule.js'

/** What a rule is judged on. */
export interface RuleFacts {
  /** The value at a path; undefined where there is none. `since`: see `Comparison`. */
  field(path: string, since?: string): Json | undefined
  /** The time of the judgement, in ms. */
  now: number
}

/** The result of a rule, with what was compared; a missing value did not exist. */
export type Judged =
  | {
      holds: boolean
      field: string
      operator: Operator
      /** The value of the field. */
      actual?: Json
      /** The value it was compared with; a variable is already replaced by its value. */
      value?: Json
    }
  | { holds: boolean; all: Judged[] }
  | { holds: boolean; any: Judged[] }
  | { holds: boolean; not: Judged }

/**
 * Judges a rule, each of its parts, so that the answer says why. Nothing is converted: the number 1
 * is not the string "1". Only gt, gte, lt and lte read two strings as dates (ISO 8601).
 */
export function judgeRule(rule: Rule, facts: RuleFacts): Judged {
  if ('all' in rule) {
    const all = rule.all.map((part) => judgeRule(part, facts))
    return { holds: all.every((part) => part.holds), all }
  }
  if ('any' in rule) {
    const any = rule.any.map((part) => judgeRule(part, facts))
    return { holds: any.some((part) => part.holds), any }
  }
  if ('not' in rule) {
    const not = judgeRule(rule.not, facts)
    return { holds: !not.holds, not }
  }
  return compared(rule, facts)
}

/** The result without the why, for many people: it stops as soon as the answer is known. */
export function ruleHolds(rule: Rule, facts: RuleFacts): boolean {
  if ('all' in rule) return rule.all.every((part) => ruleHolds(part, facts))
  if ('any' in rule) return rule.any.some((part) => ruleHolds(part, facts))
  if ('not' in rule) return !ruleHolds(rule.not, facts)
  return holdsFor(rule, facts.field(rule.field, rule.since), comparedWith(rule, facts), facts.now)
}

/**
 * The compared values are kept in the answer: `posthorn automation walk` and the editor show why a
 * condition did not hold.
 */
function compared(comparison: Comparison, facts: RuleFacts): Judged {
  const { field, operator, since } = comparison
  const actual = facts.field(field, since)
  const value = comparedWith(comparison, facts)
  return {
    holds: holdsFor(comparison, actual, value, facts.now),
    field,
    operator,
    ...(actual === undefined ? {} : { actual }),
    ...(value === undefined ? {} : { value }),
  }
}

/** What the field is compared with. */
const comparedWith = ({ value }: Comparison, facts: RuleFacts): Json | undefined =>
  isVariable(value) ? facts.field(value.var) : value

function holdsFor(
  { operator, ignoreCase }: Comparison,
  actual: Json | undefined,
  value: Json | undefined,
  now: number,
): boolean {
  return ignoreCase
    ? tests[operator](inOneCase(actual), inOneCase(value), now)
    : tests[operator](actual, value, now)
}

/** Texts, and the texts in an array, in the form that ignores case (Unicode NFKC). */
function inOneCase(value: Json | undefined): Json | undefined {
  if (isText(value)) return value.normalize('NFKC').toLowerCase()
  return Array.isArray(value)
    ? value.map((one) => (isText(one) ? (inOneCase(one) ?? one) : one))
    : value
}

/** How an operator decides; undefined stands for a field that is missing. */
type Test = (actual: Json | undefined, value: Json | undefined, now: number) => boolean

// If a field or a variable is missing, only neq, not_contains, not_within and is_empty hold.
const tests: Record<Operator, Test> = {
  eq: equals,
  neq: (actual, value) => !equals(actual, value),
  gt: (actual, value) => ordered(actual, value, (order) => order > 0),
  gte: (actual, value) => ordered(actual, value, (order) => order >= 0),
  lt: (actual, value) => ordered(actual, value, (order) => order < 0),
  lte: (actual, value) => ordered(actual, value, (order) => order <= 0),
  in: (actual, value) => Array.isArray(value) && includes(value, actual),
  contains,
  not_contains: (actual, value) => !contains(actual, value),
  starts_with: (actual, value) => isText(actual) && isText(value) && actual.startsWith(value),
  ends_with: (actual, value) => isText(actual) && isText(value) && actual.endsWith(value),
  // A contact without a name has null there: that counts as missing, though it equals null.
  exists: (actual) => actual !== undefined && actual !== null,
  is_empty: isEmpty,
  within: isWithin,
  not_within: (actual, value, now) => !isWithin(actual, value, now),
}

/** Whether a time is at most so long ago, and not in the future. */
function isWithin(actual: Json | undefined, value: Json | undefined, now: number): boolean {
  const at = isText(actual) ? instantOf(actual) : undefined
  const backMs = isText(value) ? durationMs(value) : undefined
  return at !== undefined && backMs !== undefined && at <= now && at > now - backMs
}

/**
 * Compares numbers with numbers and instants with instants, nothing else: as texts "10" < "9", and
 * a condition would be right only until the tenth order.
 */
function ordered(
  actual: Json | undefined,
  value: Json | undefined,
  decides: (order: number) => boolean,
): boolean {
  if (typeof actual === 'number' && typeof value === 'number') return decides(actual - value)
  if (!isText(actual) || !isText(value)) return false
  const [left, right] = [instantOf(actual), instantOf(value)]
  return left !== undefined && right !== undefined && decides(left - right)
}

/** Whether a text contains a part, or an array an element. */
function contains(actual: Json | undefined, value: Json | undefined): boolean {
  if (Array.isArray(actual)) return includes(actual, value)
  return isText(actual) && isText(value) && hasText(actual, value)
}

const isText = (value: Json | undefined): value is string => typeof value === 'string'

/** For whoever writes a condition, absent and empty are the same. */
function isEmpty(actual: Json | undefined): boolean {
  if (actual === undefined || actual === null || actual === '') return true
  return typeof actual === 'object' && Object.keys(actual).length === 0
}

// A date, or a date and time with its offset: without an offset a time means another instant in
// each zone.
const isoDate = /^\d{4}-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** The instant of an ISO 8601 date (its start in UTC), or of a date and time with its offset. */
export function instantOf(text: string): number | undefined {
  const [, month, day] = isoDate.exec(text) ?? []
  const at = Date.parse(text)
  if (month === undefined || Number.isNaN(at)) return undefined
  // Date.parse takes 30 February as 2 March.
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), Number(month), 0)).getUTCDate()
  return Number(day) <= days ? at : undefined
}
