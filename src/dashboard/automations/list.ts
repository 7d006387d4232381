import {
  type Automation,
  type AutomationDefinition,
  automationPage,
  definitionsOf,
  draftsAmong,
  lastStarts,
} from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { type AilmentOf, ailmentsNow } from './ailments.js'
import type { AutomationPageDeps } from './deps.js'
import { hasGoal } from './end-figures.js'
import { wordBook } from './word-book.js'
import { startWords, stateChip, type WordBook } from './words.js'

interface AutomationsView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  noPlan: boolean
  automations: {
    page: string
    name: string
    starts: string
    chip: { text: string; tone: Tone }
    /** There is a draft that is not in force. */
    hasDraft: boolean
    figures: readonly [now: string, completed: string, ended: string, reached: string]
    lastStart: Moment | undefined
  }[]
}

const perPage = 25

/** The automations of an account, the newest first. */
export async function showAutomations(deps: AutomationPageDeps, visit: Visit): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, now, query } = visit
  const { rows, newer, older } = await listOf({ path: `${base}/automations`, query }, (cursor) =>
    automationPage(read, account.id, { limit: perPage, cursor }),
  )
  const ids = rows.map(({ id }) => id)
  const [definitions, starts, billing, drafts] = await Promise.all([
    definitionsOf(read, rows),
    lastStarts(read, ids),
    readBilling(read, deps.plans, account.id),
    draftsAmong(read, account.id, ids),
  ])
  const book = await wordBook(read, account.id, [...definitions.values()])
  const ailmentOf = await ailmentsNow(read, account.id, book)
  const view: AutomationsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('automations.write'),
    noPlan: billing.marketingPlan === null,
    newer,
    older,
    automations: rows.map((one) => {
      const at = starts.get(one.id)
      return {
        ...rowOf(one, base, { book, definition: definitions.get(one.id), ailmentOf }),
        hasDraft: drafts.has(one.id),
        lastStart: at === undefined ? undefined : moment(at, now),
      }
    }),
  }
  return page('automations/list', view, { title: 'Automations' })
}

const shown = (count: number) => count.toLocaleString('en-GB')

function rowOf(
  one: Automation,
  base: string,
  {
    book,
    definition,
    ailmentOf,
  }: { book: WordBook; definition: AutomationDefinition | undefined; ailmentOf: AilmentOf },
): Omit<AutomationsView['automations'][number], 'lastStart' | 'hasDraft'> {
  const { running, waiting, completed, by_step: ended, reached } = one
  return {
    page: `${base}/automations/${one.id}`,
    name: one.name,
    starts: definition === undefined ? '–' : startWords(definition, book),
    chip: stateChip(one, definition && ailmentOf(definition)),
    figures: [
      shown(running + waiting),
      shown(completed),
      shown(ended),
      definition !== undefined && hasGoal(one, definition) ? shown(reached) : '–',
    ],
  }
}
