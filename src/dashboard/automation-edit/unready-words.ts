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

/** What is wrong at a step, and the template where it can be mended. */
export type Unready = StepFault & { slug?: string }

/** Mails that are still as a recipe made them: pages turn on nothing that would send words meant for its author. */
export async function unwrittenMails(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<Unready[]> {
  const made = await asMade(read, accountId, definition)
  return made.map((one) => ({ key: one.key, error: madeWords(one), slug: one.slug }))
}

/** Questions asked too soon: nobody can have done yet what they ask for. They may be turned on, but would be a pity. */
export const tooSoonWords = (definition: AutomationDefinition): StepFault[] =>
  askedTooSoon(definition).map(({ key, mail }) => ({
    key,
    error: `Nobody can have opened ${inQuotes(shortName(mail, definition.steps))} yet, or clicked in it: put a wait before this question.`,
  }))

const madeWords = ({ instructs, leadsNowhere }: AsMade): string =>
  instructs
    ? `Its mail still tells you what to write, and would be sent so${leadsNowhere ? ', with a button that leads nowhere yet' : ''}. Write your own words first.`
    : 'The button of its mail leads nowhere yet, only to example.com. Write the address of your own page into it first.'
