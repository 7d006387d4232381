import {
  type Comparison,
  comparisonsOf,
  durationMs,
  instantOf,
  isVariable,
  type Rule,
} from '../rules/index.js'
import type { PersonFacts } from './facts.js'

/** The parts of a rule whose result changes by time alone. */
export const timedIn = (rule: Rule): Comparison[] =>
  comparisonsOf(rule).filter(
    ({ operator, since }) =>
      since !== undefined || operator === 'within' || operator === 'not_within',
  )

/**
 * When a rule's verdict about a person may next change by time alone (ms); undefined: never. `timed`: see `timedIn`.
 */
export function holdsUntil(timed: readonly Comparison[], facts: PersonFacts): number | undefined {
  if (timed.length === 0) return undefined
  const times = timed.flatMap(({ field, value, since }): number[] => {
    if (since !== undefined) {
      const end = facts.countsUntil(field.slice('event.'.length), since)
      return end === undefined ? [] : [end]
    }
    const actual = facts.field(field)
    const at = typeof actual === 'string' ? instantOf(actual) : undefined
    const back = isVariable(value) ? facts.field(value.var) : value
    const backMs = typeof back === 'string' ? durationMs(back) : undefined
    // A time counts as past from the moment it is reached, and as too long ago after the duration.
    return at === undefined || backMs === undefined ? [] : [at, at + backMs]
  })
  const ahead = times.filter((at) => at > facts.now)
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}
