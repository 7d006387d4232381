/**
 * Rules about people and what happened to them: one language for automations and segments, with one judge and one
 * checker. It is pure: the caller says which fields there are, and what they hold.
 */
export { type RuleBounds, ruleTree } from './check-rule.js'
export { afterMs, durationMs } from './duration.js'
export { hasText } from './equality.js'
export { type RuleFault, type RuleFaultCode, ruleFaultCodes, ruleFaultOf } from './fault.js'
export { type FieldKind, senseless } from './field-kind.js'
export { instantOf, type Judged, judgeRule, type RuleFacts, ruleHolds } from './judge.js'
export {
  type Comparison,
  comparisonsOf,
  isVariable,
  type Operator,
  operators,
  type Rule,
  type Variable,
} from './rule.js'
