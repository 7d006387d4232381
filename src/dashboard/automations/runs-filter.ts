import {
  type Automation,
  type AutomationDefinition,
  blockedReasons,
  drawnEnds,
  type EndKind,
  endReasons,
  liveAsked,
  ofPerson,
  type RunsFilter,
  readDefinition,
  runStatuses,
  stepIdsOf,
  versionsShown,
} from '../../automations/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { inQuotes } from '../shell/names.js'
import { endLabels } from './end-figures.js'
import { flowGraph } from './graph.js'
import { blockWords, endWords } from './result-words.js'
import { wordBook } from './word-book.js'
import { titlesApart, type WordBook } from './words.js'

/*
 * Which people of an automation a page shows: by where they stand, at which step, why they left, and in which version.
 * Every choice must hold.
 */

const live = ['running', 'waiting'] as const
const states = [
  ['all', 'Everybody', runStatuses],
  ['live', 'In it now', live],
  ['completed', 'Came to the end', ['completed']],
  ['ended', endLabels.step, ['exited']],
  ['event', endLabels.event, ['exited']],
  ['goal', endLabels.goal, ['exited']],
  ['exited', endLabels.left, ['exited', 'failed', 'cancelled']],
  ['failed', 'Failed', ['failed']],
  ['cancelled', 'Taken out', ['cancelled']],
] as const
const ends = ['completed', 'exited', 'failed', 'cancelled'] as const
interface Asked {
  /** The address of one person. */
  who: string
  show: string
  step: string
  why: string
  version: string
}

/** What is chosen, as a search, and as the links of the page write it. */
export interface ChosenRuns {
  asked: Asked
  filter: RunsFilter
  filters: Record<string, string | undefined>
  /** Whether some of them can still be in it. */
  isOfLive: boolean
}

/** What a query chooses. An unknown choice chooses nobody, and the page says so. */
export async function chosenOf(
  read: Read,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  query: URLSearchParams,
): Promise<ChosenRuns> {
  const asked = askedIn(query)
  const { who, show, step, why, version } = asked
  const stepIds =
    (step === '' && version === '') || !isNumber(version)
      ? undefined
      : await stepIdsOf(read, id, {
          key: step === '' ? undefined : step,
          version: version === '' ? undefined : Number(version),
        })
  const status = ends.find((one) => why.startsWith(`${one}.`))
  const wait = /^wait\.(.+)$/.exec(show)?.[1]
  const [, , statuses] = states.find(([one]) => one === show) ?? states[0]
  const places = { stepIds, ...(await endAsked(read, id, show)) }
  // People who wait have no reason for leaving, and those who came to the end have none of the others' reasons.
  const isNobody =
    !isKnown(asked) ||
    (status !== undefined && (wait !== undefined || !statuses.some((one) => one === status)))
  const among: RunsFilter = isNobody
    ? { stepIds: [] }
    : status !== undefined
      ? Object.assign({ statuses: [status], reason: why.slice(status.length + 1) }, places)
      : Object.assign(wait === undefined ? { statuses } : { wait }, places)
  const said = (value: string) => (value === '' ? undefined : value)
  const filter = await ofPerson(read, account_id, among, said(who))
  return {
    asked,
    filter,
    filters: {
      who: said(who),
      show: show === 'all' ? undefined : show,
      step: said(step),
      why: said(why),
      version: said(version),
    },
    isOfLive: isOfLive(asked),
  }
}

/** Whether some of the chosen people can still be in it. A single person is taken out on their own page. */
function isOfLive({ who, show, why, version }: Asked): boolean {
  const [, , statuses] = states.find(([one]) => one === show) ?? states[0]
  const isWait = show.startsWith('wait.')
  const isOfAll = who === '' && why === '' && isKnown({ show, why, version })
  return isOfAll && (isWait || statuses.some((one) => one === 'waiting'))
}

const waits = ['held', ...blockedReasons].map((reason) => `wait.${reason}`)

/** Whether the page offers all of these choices; an address may say anything. */
const isKnown = ({ show, why, version }: Pick<Asked, 'show' | 'why' | 'version'>): boolean =>
  (waits.includes(show) || states.some(([one]) => one === show)) &&
  (why === '' || ends.some((one) => why.startsWith(`${one}.`))) &&
  isNumber(version)

const isNumber = (version: string) => version === '' || /^\d{1,9}$/.test(version)

const kinds: Readonly<Record<string, EndKind>> = {
  ended: 'step',
  event: 'event',
  goal: 'goal',
  exited: 'left',
}

/** How it ended for the people who are shown. */
async function endAsked(
  read: Read,
  automationId: string,
  show: string,
): Promise<Pick<RunsFilter, 'end'>> {
  const kind = Object.hasOwn(kinds, show) ? kinds[show] : undefined
  if (kind === undefined) return {}
  return { end: { kind, exits: new Set(await drawnEnds(read, automationId)) } }
}

function askedIn(query: URLSearchParams): Asked {
  const said = (name: string) => (query.get(name) ?? '').slice(0, 200)
  return {
    who: said('who').trim(),
    show: said('show') || 'all',
    step: said('step'),
    why: said('why'),
    version: said('version'),
  }
}

/**
 * The live runs among those chosen, for an action on them; undefined for all. Throws a 422 where the address asks for
 * people who cannot be in it: the action must not hit everybody when it was meant for some.
 */
export async function chosenLive(
  read: Read,
  automation: Pick<Automation, 'id'>,
  query: URLSearchParams,
): Promise<{
  only: { step?: string; version?: number; waiting?: string } | undefined
  filter: RunsFilter
}> {
  const asked = askedIn(query)
  if (!isOfLive(asked)) throw notOfLive()
  const { show, step, version } = asked
  const wait = /^wait\.(.+)$/.exec(show)?.[1]
  const only = {
    ...(step !== '' && { step }),
    ...(version !== '' && { version: Number(version) }),
    ...(wait !== undefined && { waiting: wait }),
  }
  const isAny = Object.keys(only).length > 0
  return { only: isAny ? only : undefined, filter: await liveAsked(read, automation.id, only) }
}

const notOfLive = () =>
  new ApiError(
    'validation_error',
    'Nobody of those whom this address asks for can be in it. Go to “People”, and choose there whom you mean',
    { status: 422 },
  )

interface Choice {
  value: string
  label: string
}

/** The choices of the page's form, and what is chosen in words; undefined where it is everybody. */
export interface RunChoices {
  show: Choice[]
  step: Choice[]
  why: Choice[]
  version: Choice[]
  says: string | undefined
}

export async function runChoices(
  read: Read,
  automation: Automation,
  { definition, book, asked }: { definition: AutomationDefinition; book: WordBook; asked: Asked },
): Promise<RunChoices> {
  const reasons = await endReasons(read, automation.id)
  const versions = await versionsShown(read, automation)
  const offered = [
    ...states.map(([value, label]) => ({ value, label })),
    { value: 'wait.held', label: 'Held' },
    ...blockedReasons.map((reason) => ({
      value: `wait.${reason}`,
      label: `Waiting: ${blockWords(reason)}`,
    })),
  ]
  const show = withChosen(offered, asked.show, 'Where nobody can be')
  const frozen = versions.filter(({ frozen_at }) => frozen_at !== null).map((one) => one.version)
  const steps = stepsOf(definition, book)
  const older = await olderSteps(read, automation, frozen, new Set(steps.map((one) => one.value)))
  const step = [
    { value: '', label: 'Any step' },
    ...withChosen([...steps, ...older], asked.step, 'A step that is gone'),
  ]
  const why = [
    { value: '', label: 'For any reason' },
    ...withChosen(
      reasons.map(({ status, reason }) => ({
        value: `${status}.${reason}`,
        label: endWords(status, reason, 'line'),
      })),
      asked.why,
      'A reason that nobody has',
    ),
  ]
  const version = [
    { value: '', label: 'Any version' },
    ...withChosen(
      frozen.map((one) => ({ value: String(one), label: `Version ${one}` })),
      asked.version,
      `Version ${asked.version}`,
    ),
  ]
  const labelOf = (choices: Choice[], value: string) =>
    choices.find((one) => one.value === value)?.label ?? ''
  const parts = [
    asked.who,
    asked.show === 'all' ? '' : labelOf(show, asked.show),
    asked.step === '' ? '' : `at ${inQuotes(labelOf(step, asked.step))}`,
    asked.why === '' ? '' : labelOf(why, asked.why),
    asked.version === '' ? '' : labelOf(version, asked.version).toLowerCase(),
  ].filter((one) => one !== '')
  return { show, step, why, version, says: parts.length === 0 ? undefined : parts.join(', ') }
}

function stepsOf(definition: AutomationDefinition, book: WordBook): Choice[] {
  const called = titlesApart(definition, book)
  return flowGraph(definition).steps.map(({ key }) => ({ value: key, label: called(key) }))
}

/** The steps that only older versions have, each by its name in the newest of these: people may still wait there. */
async function olderSteps(
  read: Read,
  { id, account_id, version: newest }: Pick<Automation, 'id' | 'account_id' | 'version'>,
  versions: readonly number[],
  known: Set<string>,
): Promise<Choice[]> {
  const older: Choice[] = []
  for (const version of versions) {
    if (version === newest) continue
    const { definition } = await readDefinition(read, id, version)
    if (definition.steps.every(({ key }) => known.has(key))) continue
    const book = await wordBook(read, account_id, [definition])
    for (const { value, label } of stepsOf(definition, book)) {
      if (known.has(value)) continue
      known.add(value)
      older.push({ value, label: `${label} (version ${version})` })
    }
  }
  return older
}

const withChosen = (choices: Choice[], value: string, label: string): Choice[] =>
  value === '' || choices.some((one) => one.value === value)
    ? choices
    : [...choices, { value, label }]
