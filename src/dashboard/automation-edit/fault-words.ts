import type { StepFault } from '../../automations/index.js'
import { conditionWords } from '../segments/condition-words.js'
import { faultInWords } from './fault-tables.js'

/** What is wrong at a step, in the words of its card; `called` is what people call a step, by its key. */
export function faultWords({ error }: StepFault, called: (key: string) => string): string {
  const found = faultInWords(error, called)
  if (found !== undefined) return found
  const [, place, says = ''] =
    /^(?:settings\.(?:exitOn\[\d+\]|goal)\.)?(?:filter\.?)?((?:all|any|\[\d+\]|\.|not)+)[^:]*: (.*)$/s.exec(
      error,
    ) ?? []
  if (place === undefined) return error
  const plain = `${conditionWords(says).replace(/\.$/, '')}.`
  const numbers = [...place.matchAll(/\[(\d+)\]/g)].map(([, n]) => Number(n) + 1)
  return numbers.length === 0 ? `Conditions: ${plain}` : `Condition ${numbers.join('.')}: ${plain}`
}
