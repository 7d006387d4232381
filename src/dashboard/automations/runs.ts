import {
  type Automation,
  type AutomationDefinition,
  blockedReasons,
  endingWords,
  endReasons,
  findAutomation,
  findRuns,
  type Run,
  type RunsFilter,
  readDefinition,
  runStatuses,
  stepIdsOf,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, linkTo, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { blockWords, runSentence } from './run-words.js'
import { wordBook } from './word-book.js'
import { stepTitle, type WordBook } from './words.js'

interface RunsView extends AutomationFrame, BesidePages {
  show: string
  version: string | undefined
  choices: { value: string; label: string }[]
  /** The chosen one, where it is not everybody. */
  chosen: string | undefined
  runs: { page: string; who: string; says: string; version: string; began: Moment }[]
  /** Whether people of this list can be in it still, so that they can be taken out. */
  mayCancel: boolean
  /** Where all that fit are taken out. */
  cancel: string
  isShort: boolean
  faults: Faults
}

const perPage = 25
const live = ['running', 'waiting'] as const
const states = [
  ['all', 'Everybody', runStatuses],
  ['live', 'In it now', live],
  ['completed', 'Came to the end', ['completed']],
  ['exited', 'Left before the end', ['exited']],
  ['failed', 'Failed', ['failed']],
  ['cancelled', 'Cancelled', ['cancelled']],
] as const
const ways = {
  completed: 'Came to the end',
  exited: 'Left',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

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
  const { show, version, filter } = await filterIn(read, found, query)
  const path = `${frame.page}/runs`
  const filters = { show: show === 'all' ? undefined : show, version }
  const { rows, newer, older } = await listOf({ path, query, filters }, async (before) => {
    const { runs, next } = await findRuns(read, found.id, filter, { limit: perPage, before })
    return { page: runs, nextCursor: next ?? null }
  })
  const choices = await choicesOf(read, found, { definition, book })
  const isKnown = choices.some(({ value }) => value === show)
  const zone = person.timeZone ?? 'UTC'
  const says = await sentences(deps, found, rows, { book, zone, now })
  const isOfLive =
    filter.by === 'step' ||
    filter.by === 'wait' ||
    (filter.by === 'status' && filter.statuses.includes('waiting'))
  const view: RunsView = {
    ...frame,
    show,
    version,
    choices: isKnown ? choices : [...choices, { value: show, label: labelOf(show) }],
    chosen: show === 'all' ? undefined : labelOf(show, choices),
    newer,
    older,
    runs: rows.map((run, at) => ({
      page: `${frame.base}/automations/runs/${run.id}`,
      who: run.email ?? 'Somebody who is deleted',
      says: says[at] ?? '',
      version: String(run.version),
      began: moment(run.startedAt, now),
    })),
    mayCancel: frame.mayWrite && isOfLive && found.running + found.waiting > 0,
    cancel: linkTo(`${path}/cancel`, filters),
    isShort: older !== undefined && rows.length < perPage,
    faults,
  }
  return page('automations/runs', view, { title: `${found.name}: people` })
}

/** What a page of runs is asked to show; what is none of its choices shows everybody. */
export async function filterIn(
  read: Read,
  { id }: Pick<Automation, 'id'>,
  query: URLSearchParams,
): Promise<{ show: string; version: string | undefined; filter: RunsFilter }> {
  const show = query.get('show') ?? 'all'
  const number = Number(query.get('version') || Number.NaN)
  const version = Number.isSafeInteger(number) ? number : undefined
  const [kind, ...more] = show.split('.')
  const rest = more.join('.')
  if (kind === 'step') {
    const stepIds = await stepIdsOf(read, id, { key: rest, version })
    return { show, version: version?.toString(), filter: { by: 'step', stepIds } }
  }
  if (kind === 'wait') return { show, version: undefined, filter: { by: 'wait', reason: rest } }
  const status = ends.find((one) => show.startsWith(`${one}.`))
  if (status !== undefined) {
    const reason = show.slice(status.length + 1)
    return { show, version: undefined, filter: { by: 'end', status, reason } }
  }
  const [name, , statuses] = states.find(([one]) => one === show) ?? states[0]
  return { show: name, version: undefined, filter: { by: 'status', statuses } }
}

const ends = ['completed', 'exited', 'failed', 'cancelled'] as const

/** What the select of the page offers. */
async function choicesOf(
  read: Read,
  { id }: Automation,
  { definition, book }: { definition: AutomationDefinition; book: WordBook },
): Promise<{ value: string; label: string }[]> {
  const steps = definition.steps
    .filter(({ type }) => type !== 'exit')
    .map((step) => ({
      value: `step.${step.key}`,
      label: `Now at: ${stepTitle(step, book, definition)}`,
    }))
  const reasons = await endReasons(read, id)
  return [
    ...states.map(([value, label]) => ({ value, label })),
    ...steps,
    { value: 'wait.held', label: 'Held' },
    ...blockedReasons.map((reason) => ({
      value: `wait.${reason}`,
      label: `Waiting: ${blockWords(reason)}`,
    })),
    ...reasons.map(({ status, reason }) => ({
      value: `${status}.${reason}`,
      label: `${ways[status]}: ${endingWords(reason)}`,
    })),
  ]
}

const labelOf = (show: string, choices: readonly { value: string; label: string }[] = []) =>
  choices.find(({ value }) => value === show)?.label ?? show.replace(/^step\./, 'Now at: ')

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
      const steps = [...compiled.byKey.values()].map(({ step }) => step)
      const title = (key: string) => {
        const step = compiled.byKey.get(key)?.step
        return step === undefined ? key : stepTitle(step, book, { steps })
      }
      return runSentence(run, { compiled, title, zone, now, isPaused: paused_at !== null })
    }),
  )
}
