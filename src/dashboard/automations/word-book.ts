import type { AutomationDefinition } from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { fieldChoices } from '../segments/choices.js'
import { namesOf } from '../segments/names.js'
import type { WordBook } from './words.js'

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** The fields of contacts that rules in some JSON ask for; fields of events and mails have words of their own. */
const askedFields = (within: unknown): string[] =>
  [...JSON.stringify(within).matchAll(/"field":"((?:contact|segment|broadcast)\.[^"\\]+)"/g)].map(
    ([, field = '']) => field,
  )

/** The names of an account's things that some definitions mention. */
export async function wordBook(
  read: Read,
  accountId: string,
  definitions: readonly Pick<AutomationDefinition, 'steps' | 'settings'>[],
): Promise<WordBook> {
  const steps = definitions.flatMap((one) => one.steps)
  // Wherever an id of a list, segment, topic or form stands in a rule, it means that thing.
  const settings = definitions.flatMap((one) => one.settings ?? [])
  const ids = new Set(
    (JSON.stringify([steps, settings]).match(uuid) ?? []).map((id) => id.toLowerCase()),
  )
  const hasRules =
    steps.some(
      (one) =>
        one.type === 'condition' || ('filter' in one.config && one.config.filter !== undefined),
    ) ||
    settings.some(({ exitOn = [], goal }) =>
      [...exitOn, ...(goal === undefined ? [] : [goal])].some(({ filter }) => filter !== undefined),
    )
  const [names, fields] = await Promise.all([
    namesOf(read, accountId, [...ids]),
    hasRules ? fieldChoices(read, accountId, askedFields([steps, settings])) : [],
  ])
  return { names, fields }
}
