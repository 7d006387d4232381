import { type AutomationDefinition, InvalidAutomation } from '../../automations/index.js'
import { ApiError } from '../../errors/index.js'
import { titleOf, type WordBook } from '../automations/words.js'
import { inQuotes } from '../shell/names.js'
import { faultWords } from './fault-words.js'

/**
 * Does work that faults of steps may refuse; the page then names them in the words of their cards. `says` is a sentence
 * about what was not done.
 */
export async function refusedInWords<T>(
  says: string,
  { definition, book }: { definition: AutomationDefinition; book: WordBook },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidAutomation)) throw error
    const called = titleOf(definition, book)
    const found = error.faults
    // The fault is in the form, not in a step: `automations/refusals.ts` has its words.
    if (found.every((one) => one.key === null && faultWords(one, called) === one.error)) throw error
    const faults = found.map((one) => {
      const step = definition.steps.find(({ key }) => key === one.key)
      const where = step === undefined ? '' : `${inQuotes(called(step.key))}: `
      return `${where}${faultWords(one, called)}`
    })
    throw new ApiError('validation_error', [says, ...new Set(faults)].join(' '), { status: 422 })
  }
}
