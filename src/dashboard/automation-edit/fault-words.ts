import type { FaultPart, StepFault } from '../../automations/index.js'
import { type RuleFaultCode, ruleFaultCodes } from '../../rules/index.js'
import { conditionWords } from '../segments/condition-words.js'
import { faultInWords } from './fault-tables.js'

/** What is wrong at a step, in the words of its card; `called` gives a step's title by its key. */
export function faultWords({ error, is }: StepFault, called: (key: string) => string): string {
  if (is === undefined) return error
  return conditionFault(is) ?? faultInWords(is, called) ?? error
}

/** What is wrong with a condition, and with which one; undefined where the fault is about no condition. */
function conditionFault({ code, place, says, most, placesBefore }: FaultPart): string | undefined {
  const known = ruleFaultCodes.find((one) => one === code)
  const isInRule = place.includes('filter') || place.some((one) => groups.includes(one))
  if (known === undefined && (!isInRule || code !== undefined)) return undefined
  const plain = conditionWords({
    message: says,
    code: known satisfies RuleFaultCode | undefined,
    most,
  })
  const numbers = numbersOf(place, placesBefore)
  const where = numbers.length === 0 ? 'Conditions' : `Condition ${numbers.join('.')}`
  return `${where}: ${plain.replace(/\.$/, '')}.`
}

const groups: readonly string[] = ['all', 'any', 'not']

/** The number of the condition, and of its group, from 1 on, as the card shows them. */
function numbersOf(place: readonly string[], placesBefore = 0): number[] {
  // A number before the rule is that of the event that ends runs, and does not count.
  const rule = place.slice(place.indexOf('filter') + 1)
  const numbers = rule.filter((one) => /^\d+$/.test(one)).map((one) => Number(one) + 1)
  return numbers.map((one, index) => (index === 0 ? one - placesBefore : one))
}
