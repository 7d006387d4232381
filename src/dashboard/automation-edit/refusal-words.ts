import { type AutomationDefinition, InvalidAutomation } from '../../automations/index.js'
import { ApiError } from '../../errors/index.js'
import { titleOf, type WordBook } from '../automations/words.js'
import { inQuotes } from '../shell/names.js'
import { faultWords } from './fault-words.js'

/**
 * Does what may be refused for what is wrong with steps; the page then says that in the words of their cards. `says` is what
 * came to nothing, as a sentence.
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
    // It is about the form, and not about a step: `automations/refusals.ts` says it.
    if (found.every((one) => one.key === null && faultWords(one, called) === one.error)) throw error
    const faults = found.map((one) => {
      const step = definition.steps.find(({ key }) => key === one.key)
      const where = step === undefined ? '' : `${inQuotes(called(step.key))}: `
      return `${where}${faultWords(one, called)}`
    })
    throw new ApiError('validation_error', [says, ...new Set(faults)].join(' '), { status: 422 })
  }
}
