import { counted } from '../../amounts/index.js'
import {
  type Automation,
  type Compiled,
  findAutomation,
  findRuns,
  latelyCountLive,
  type Run,
  readDefinition,
  type StepDefinition,
  takeOutsUnderWay,
} from '../../automations/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, linkTo, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { runSentence } from './run-words.js'
import { chosenLive, chosenOf, type RunChoices, runChoices } from './runs-filter.js'
import { wordBook } from './word-book.js'
import { titleOf, type WordBook } from './words.js'

interface RunsView extends AutomationFrame, BesidePages {
  /** What is chosen, by the names of the form's fields. */
  asked: { who: string; show: string; step: string; why: string; version: string }
  choices: RunChoices
  /** The choices in words, where it is not everybody. */
  chosen: string | undefined
  runs: { page: string; who: string; says: string; version: string; began: Moment }[]
  /** How many of the chosen people are still in it, at most, where they can be taken out or moved. */
  live: { most: number; people: string; isAll: boolean } | undefined
  /** Tasks under way that take people out. */
  takingOut: { says: string; page: string }[]
  /** The address that takes all chosen people out. */
  cancel: string
  /** The address that moves those of them who are still in it. */
  move: string
  isShort: boolean
  /** Why nobody is shown, where one person is looked for. */
  nobody: string | undefined
  faults: Faults
}

const perPage = 25
/** The people of an automation, the newest first, by where they are or why they left. Throws a 404. */
export async function showRuns(
  deps: AutomationPageDeps,
  visit: Visit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, now, query, person } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const frame = frameOf(visit, found, { here: 'runs', definition, book })
  const { asked, filter, filters, isOfLive } = await chosenOf(read, found, query)
  const path = `${frame.page}/runs`
  const { rows, newer, older } = await listOf({ path, query, filters }, async (before) => {
    const { runs, next } = await findRuns(read, found.id, filter, { limit: perPage, before })
    return { page: runs, nextCursor: next ?? null }
  })
  // The drawing of an automation that was never turned on leads here too; nobody can be at its steps.
  const canBeIn = isOfLive && filter.stepIds?.length !== 0
  const live = canBeIn && frame.mayWrite ? await countFitting(deps, found, visit) : undefined
  const choices = await runChoices(read, found, { definition, book, asked })
  const tasks = await takeOutsUnderWay(read, found)
  const zone = person.timeZone ?? 'UTC'
  const says = await sentences(deps, found, rows, { book, zone, now })
  const view: RunsView = {
    ...frame,
    asked,
    choices,
    chosen: choices.says,
    newer,
    older,
    runs: rows.map((run, at) => ({
      page: `${frame.base}/automations/runs/${run.id}`,
      who: run.email ?? 'Somebody who is deleted',
      says: says[at] ?? '',
      version: String(run.version),
      began: moment(run.startedAt, now),
    })),
    live,
    takingOut: tasks.map(({ id, says }) => ({ says, page: `${frame.base}/tasks/${id}` })),
    cancel: linkTo(`${path}/cancel`, filters),
    move: linkTo(`${frame.page}/move`, filters),
    nobody: asked.who === '' ? undefined : nobodyWords(asked, filter.contactId),
    isShort: older !== undefined && rows.length < perPage,
    faults,
  }
  return page('automations/runs', view, { title: `${found.name}: people` })
}

/** Why a person who is looked for is not there. */
const nobodyWords = (
  { who, show, step, why, version }: RunsView['asked'],
  contactId: string | null | undefined,
): string => {
  if (contactId === null) return `There is no contact “${who}”. Write the whole address.`
  const isAlone = show === 'all' && [step, why, version].every((one) => one === '')
  return isAlone
    ? `“${who}” has never been in it.`
    : `“${who}” is not among those who fit what else is chosen above.`
}

async function countFitting(
  { store: { read } }: AutomationPageDeps,
  found: Automation,
  { query, now }: Visit,
): Promise<RunsView['live']> {
  const { only, filter } = await chosenLive(read, found, query)
  const most = await latelyCountLive(read, found, filter, now)
  if (most === 0) return undefined
  return { most, people: counted(most, 'person', 'people'), isAll: only === undefined }
}

/** A sentence for each of some runs, in the words of their own versions. */
export async function sentences(
  { store: { read }, versions }: Pick<AutomationPageDeps, 'store' | 'versions'>,
  { id, paused_at }: Pick<Automation, 'id' | 'paused_at'>,
  runs: readonly Run[],
  { book, zone, now }: { book: WordBook; zone: string; now: number },
): Promise<string[]> {
  return await Promise.all(
    runs.map(async (run) => {
      const { compiled } = await versions(read, id, run.version)
      const title = titleOf({ steps: stepsIn(compiled) }, book)
      return runSentence(run, { compiled, title, zone, now, isPaused: paused_at !== null })
    }),
  )
}

const stepsKept = new WeakMap<Compiled, StepDefinition[]>()

/** The steps of a version, the same for all of its runs. */
function stepsIn(compiled: Compiled): StepDefinition[] {
  const steps = stepsKept.get(compiled) ?? [...compiled.byKey.values()].map(({ step }) => step)
  stepsKept.set(compiled, steps)
  return steps
}
