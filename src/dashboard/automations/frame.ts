import { type Automation, type AutomationDefinition, dateRuleOf } from '../../automations/index.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { startAilment } from './ailments.js'
import { startWords, stateChip, type WordBook } from './words.js'

type Place = 'flow' | 'runs' | 'report'

/** The head of the pages of one automation. */
export interface AutomationFrame {
  base: string
  accountId: string
  id: string
  page: string
  name: string
  starts: string
  chip: { text: string; tone: Tone }
  tabs: { label: string; href: string; here: boolean }[]
  mayWrite: boolean
  /** What can be done with it now. */
  deeds: {
    enable: boolean
    write: boolean
    try: boolean
    pause: boolean
    resume: boolean
    disable: boolean
    archive: boolean
    start: boolean
  }
}

/** The head of a page about an automation. */
export function frameOf(
  visit: Pick<Visit, 'account' | 'base' | 'may'>,
  found: Automation,
  {
    here,
    definition,
    book,
    ailment,
  }: {
    here: Place
    definition: AutomationDefinition
    book: WordBook
    /** What keeps it from doing its work, where that was looked for. */
    ailment?: string | undefined
  },
): AutomationFrame {
  const { account, base } = visit
  const at = `${base}/automations/${found.id}`
  const mayWrite = visit.may('automations.write')
  const isOpen = mayWrite && found.status !== 'archived'
  const hasRuns = found.running + found.waiting > 0
  const tab = (label: string, place: Place, path: string) => ({
    label,
    href: `${at}${path}`,
    here: place === here,
  })
  return {
    base,
    accountId: account.id,
    id: found.id,
    page: at,
    name: found.name,
    starts: startWords(definition, book),
    chip: stateChip(found, ailment ?? startAilment(definition, book)),
    tabs: [
      tab('Flow', 'flow', ''),
      tab('People', 'runs', '/runs'),
      tab('Report', 'report', '/report'),
    ],
    mayWrite,
    deeds: {
      enable: isOpen && found.status === 'disabled',
      // An automation that never ran has nobody to hold.
      pause: isOpen && found.paused_at === null && (found.status === 'enabled' || hasRuns),
      resume: isOpen && found.paused_at !== null,
      write: isOpen,
      try: found.status !== 'archived',
      disable: isOpen && found.status === 'enabled',
      archive: isOpen,
      start: isOpen && found.status === 'enabled' && dateRuleOf(definition) === undefined,
    },
  }
}
