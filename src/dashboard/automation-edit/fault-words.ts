import type { StepFault } from '../../automations/index.js'
import { faultInWords } from './fault-tables.js'

// What the checker says of a condition, as the form calls it.
const ofConditions: readonly (readonly [RegExp, string])[] = [
  [/^Expected a text that is not empty/, 'say what it is compared with.'],
  [/^Expected eq with true or false/, 'this holds or does not hold; choose one of these two.'],
  [
    /^Expected no \S+: this field is a time/,
    'this is a time; choose “was in the last”, or “is more than, or after” with a date.',
  ],
  [/^Expected a date such as|^Expected a number or a date/, 'write a date, such as 2026-12-31.'],
  [/^Expected a duration/, 'write how long, such as 30 days or 2 weeks.'],
  [
    /^Expected (a text|no \S+): this field/,
    'this is a text; choose “is”, “contains” or another way to compare texts.',
  ],
  [/^Expected an array of rules/, 'add one: without a condition nothing is asked.'],
  [/^Expected one of contact\.|^Expected a field that begins/, 'choose what it is about.'],
]

const conditionWords = (says: string): string =>
  ofConditions.find(([form]) => form.test(says))?.[1] ?? says

/** What is wrong at a step, in the words of its card; `called` is what people call a step, by its key. */
export function faultWords({ error }: StepFault, called: (key: string) => string): string {
  const found = faultInWords(error, called)
  if (found !== undefined) return found
  const [, place, says = ''] =
    /^(?:settings\.(?:exitOn\[\d+\]|goal)\.)?(?:filter\.?)?((?:all|any|\[\d+\]|\.|not)+)[^:]*: (.*)$/s.exec(
      error,
    ) ?? []
  if (place === undefined) return error
  const plain = conditionWords(says)
  const numbers = [...place.matchAll(/\[(\d+)\]/g)].map(([, n]) => Number(n) + 1)
  return numbers.length === 0 ? `Conditions: ${plain}` : `Condition ${numbers.join('.')}: ${plain}`
}
