import {
  type AsMade,
  type AutomationDefinition,
  askedTooSoon,
  asMade,
  type StepFault,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { shortName } from '../automations/step-names.js'
import { inQuotes } from '../shell/names.js'

/** A sentence about a step, and the template that is to be written because of it. */
export type Unready = StepFault & { slug?: string }

/** What may be turned on and would be a pity: mails that are still as a recipe made them, and questions that come too soon. */
export async function unreadyWords(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<Unready[]> {
  const made = await asMade(read, accountId, definition)
  return [
    ...made.map((one) => ({ key: one.key, error: madeWords(one), slug: one.slug })),
    ...askedTooSoon(definition).map(({ key, mail }) => ({
      key,
      error: `Nobody can have opened ${inQuotes(shortName(mail, definition.steps))} yet, or clicked in it: put a wait before this question.`,
    })),
  ]
}

const madeWords = ({ instructs, leadsNowhere }: AsMade): string =>
  instructs
    ? `Its mail still tells you what to write, and would be sent so${leadsNowhere ? ', with a button that leads nowhere yet' : ''}. Write your own words first.`
    : 'The button of its mail leads nowhere yet, only to example.com. Write the address of your own page into it first.'
