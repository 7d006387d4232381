import { type Judged, judgeRule, type Rule } from '../../rules/index.js'
import { type Facts, fieldOf } from './field.js'

/** Judges a rule of an automation; see `judgeRule`. */
export const judge = (rule: Rule, facts: Facts): Judged =>
  judgeRule(rule, { field: (path) => fieldOf(facts, path), now: facts.now })

/** Whether a rule holds; no rule always does. */
export const holds = (rule: Rule | undefined, facts: Facts): boolean =>
  rule === undefined || judge(rule, facts).holds
