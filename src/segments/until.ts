import { comparisonsOf, durationMs, instantOf, isVariable, type Rule } from '../rules/index.js'
import type { PersonFacts } from './facts.js'

/** When a rule may next come out otherwise for somebody, by time alone (ms); undefined: it does not. */
export function holdsUntil(rule: Rule, facts: PersonFacts): number | undefined {
  const times = comparisonsOf(rule).flatMap(({ field, operator, value, since }): number[] => {
    if (since !== undefined) {
      const end = facts.countsUntil(field.slice('event.'.length), since)
      return end === undefined ? [] : [end]
    }
    if (operator !== 'within' && operator !== 'not_within') return []
    const actual = facts.field(field)
    const at = typeof actual === 'string' ? instantOf(actual) : undefined
    const back = isVariable(value) ? facts.field(value.var) : value
    const backMs = typeof back === 'string' ? durationMs(back) : undefined
    // It begins to lie back when it is reached, and lies too far back after the duration.
    return at === undefined || backMs === undefined ? [] : [at, at + backMs]
  })
  const ahead = times.filter((at) => at > facts.now)
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}
