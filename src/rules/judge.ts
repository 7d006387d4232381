import type { Json } from '../json/index.js'
import { durationMs } from './duration.js'
import { equals, hasText, includes } from './equality.js'
import { type Comparison, isVariable, type Operator, type Rule } from './rule.js'

/** What a rule is judged by. */
export interface RuleFacts {
  /** The value at a path; undefined where there is none. `since`: see `Comparison`. */
  field(path: string, since?: string): Json | undefined
  /** The time of the judgement, in ms. */
  now: number
}

/** How a rule came out, with what was compared; a part that is missing was not there. */
export type Judged =
  | {
      holds: boolean
      field: string
      operator: Operator
      /** What the field was. */
      actual?: Json
      /** What it was compared with, a variable already as its value. */
      value?: Json
    }
  | { holds: boolean; all: Judged[] }
  | { holds: boolean; any: Judged[] }
  | { holds: boolean; not: Judged }

/**
 * Judges a rule, each of its parts, so that the answer says why. Nothing is converted: the number 1
 * is not the string "1". Only gt to lte read two strings, as dates (ISO 8601).
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

/** The same without the why, for many people: it looks no further than the answer needs. */
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

/** Texts, and those of an array, as they are compared whatever their case (Unicode NFKC). */
function inOneCase(value: Json | undefined): Json | undefined {
  if (isText(value)) return value.normalize('NFKC').toLowerCase()
  return Array.isArray(value)
    ? value.map((one) => (isText(one) ? (inOneCase(one) ?? one) : one))
    : value
}

/** How an operator decides; undefined stands for a field that is missing. */
type Test = (actual: Json | undefined, value: Json | undefined, now: number) => boolean

// With a field that is missing, or a variable that is, only neq, not_contains, not_within and is_empty hold.
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
  // Null is what a contact has who gave no name: not there, though it equals null.
  exists: (actual) => actual !== undefined && actual !== null,
  is_empty: isEmpty,
  within: isWithin,
  not_within: (actual, value, now) => !isWithin(actual, value, now),
}

/** A time that lies so far back at most, and not ahead. */
function isWithin(actual: Json | undefined, value: Json | undefined, now: number): boolean {
  const at = isText(actual) ? instantOf(actual) : undefined
  const backMs = isText(value) ? durationMs(value) : undefined
  return at !== undefined && backMs !== undefined && at <= now && at > now - backMs
}

/**
 * Numbers with numbers and instants with instants, nothing else: "10" < "9" as text would be a
 * condition that is right until the tenth order.
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

/** A part of a text, or one element of an array. */
function contains(actual: Json | undefined, value: Json | undefined): boolean {
  if (Array.isArray(actual)) return includes(actual, value)
  return isText(actual) && isText(value) && hasText(actual, value)
}

/** Whether it is a text. */
const isText = (value: Json | undefined): value is string => typeof value === 'string'

/** Absent and empty are the same to whoever writes a condition. */
function isEmpty(actual: Json | undefined): boolean {
  if (actual === undefined || actual === null || actual === '') return true
  return typeof actual === 'object' && Object.keys(actual).length === 0
}

// A date, or a date and time with its offset: without one a time means another instant in each
// zone.
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
