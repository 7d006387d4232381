import { findAutomation, readDefinition } from '../../automations/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { wordBook } from './word-book.js'
import { startWords, stateChip, stepWords } from './words.js'

interface AutomationView {
  base: string
  accountId: string
  id: string
  page: string
  name: string
  starts: string
  chip: { text: string; tone: Tone }
  mayWrite: boolean
  steps: { words: string }[]
  faults: Faults
}

/** An automation: its flow, and how many people are where. Throws a 404. */
export async function showAutomation(
  { store: { read } }: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const view: AutomationView = {
    base,
    accountId: account.id,
    id: found.id,
    page: `${base}/automations/${found.id}`,
    name: found.name,
    starts: startWords(definition, book),
    chip: stateChip(found),
    mayWrite: visit.may('automations.write'),
    steps: definition.steps.map((step) => ({ words: stepWords(step, book, definition) })),
    faults,
  }
  return page('automations/one', view, { title: view.name })
}
