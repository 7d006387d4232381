import { counted } from '../../amounts/index.js'
import {
  type Automation,
  type AutomationDefinition,
  draftsAmong,
  findAutomation,
  findBackfill,
  latelyWaitsOf,
  type PeriodSteps,
  readDefinition,
  stepsOfPeriod,
  stepsOfVersion,
  versionsShown,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { ailmentsNow } from './ailments.js'
import type { AutomationPageDeps } from './deps.js'
import { endFigures, hasGoal } from './end-figures.js'
import { flowView, type OutlinedStep } from './flow.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { beginOf, periodChoices, periodIn } from './periods.js'
import { blockedWords } from './run-words.js'
import { wordBook } from './word-book.js'

interface AutomationView extends AutomationFrame {
  figures: { label: string; value: string }[]
  waits: string[]
  start: { begun: Moment; says: string } | undefined
  versions: { label: string; href: string; here: boolean }[]
  /** How many are in versions that are not shown. */
  elsewhere: { says: string; href: string; mayMove: boolean }[]
  isDraft: boolean
  number: string
  period: string
  periods: { value: string; label: string }[]
  /** What the numbers of a period count; undefined: all since it was turned on. */
  periodSays: string | undefined
  /** There is a draft beside the version in force. */
  hasDraft: boolean
  drawing: Html
  steps: OutlinedStep[]
  faults: Faults
}

/** An automation: its flow, and how many people are where. Throws a 404. */
export async function showAutomation(
  { store: { read } }: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, now } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const versions = await versionsShown(read, found)
  const asked = Number(visit.query.get('version') ?? found.version)
  const number = versions.some((one) => one.version === asked) ? asked : found.version
  const { definition, frozenAt } = await readDefinition(read, found.id, number)
  const [book, waits, start, drafts] = await Promise.all([
    wordBook(read, account.id, [definition]),
    latelyWaitsOf(read, found, now),
    findBackfill(read, found.id),
    draftsAmong(read, account.id, [found.id]),
  ])
  // Whoever enters runs the newest version, so only that one can have an ailment.
  const ailment =
    number === found.version ? (await ailmentsNow(read, account.id, book))(definition) : undefined
  const frame = frameOf(visit, found, { here: 'flow', definition, book, ailment })
  const inside = await insideOf(
    read,
    found,
    versions.filter(({ frozen_at }) => frozen_at !== null).map((one) => one.version),
    now,
  )
  const asksFor = frozenAt === null ? undefined : periodIn(visit.query)
  const period =
    asksFor &&
    (await stepsOfPeriod(read, found.id, { version: number, from: beginOf(asksFor, now) }))
  const around = { book, page: frame.page, now, period }
  const flow = await flowView(read, found, { number, definition }, around)
  const view: AutomationView = {
    ...frame,
    figures: figuresOf(found, definition),
    waits: waits.value.map((one) => blockedWords(one, waits.isAll)),
    start:
      start === undefined || start.ended_at !== null
        ? undefined
        : {
            begun: moment(start.created_at, now),
            says: `${shown(start.seen)} people looked at, ${shown(start.started)} began, ${shown(start.per_hour)} an hour`,
          },
    versions: versions.map(({ version, frozen_at }) => ({
      label: `Version ${version}${frozen_at === null ? ' (draft)' : ''}${inside.has(version) ? `: ${inside.get(version)} now` : ''}`,
      href: linkTo(frame.page, { version: String(version), period: asksFor?.value }),
      here: version === number,
    })),
    elsewhere: [...inside]
      .filter(([version]) => version !== number)
      .map(([version, people]) => ({
        says: `${people} ${people === '1' ? 'person is' : 'people are'} in version ${version}.`,
        href: linkTo(frame.page, { version: String(version) }),
        mayMove: frame.deeds.write && version !== found.version,
      })),
    isDraft: frozenAt === null,
    number: String(number),
    period: asksFor?.value ?? '',
    periods: [{ value: '', label: 'Since it was turned on' }, ...periodChoices],
    periodSays: period && periodWords(period),
    hasDraft: drafts.has(found.id),
    drawing: flow.drawing,
    steps: flow.steps,
    faults,
  }
  return page('automations/one', view, { title: frame.name, wide: true })
}

/** How many people are in each version that has any; nothing where there is only one version. */
async function insideOf(
  read: Read,
  found: Automation,
  versions: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, string>> {
  const inside = new Map<number, string>()
  if (versions.length < 2 || found.running + found.waiting === 0) return inside
  for (const version of versions) {
    const steps = await stepsOfVersion(read, found, version, now)
    const people = steps.reduce((sum, { present }) => sum + present, 0)
    const isMore = steps.some((step) => step.isMore)
    if (people > 0) inside.set(version, `${isMore ? 'at least ' : ''}${shown(people)}`)
  }
  return inside
}

const periodWords = ({ runs, isAll }: PeriodSteps): string =>
  isAll
    ? `Of ${counted(runs, 'person', 'people')} who began in this time, in this version.`
    : `Of the latest ${counted(runs, 'person', 'people')} who began in this time, in this version; there are more.`

const shown = (count: number) => count.toLocaleString('en-GB')

function figuresOf(one: Automation, definition: AutomationDefinition): AutomationView['figures'] {
  return [
    { label: 'In it now', value: shown(one.running + one.waiting) },
    { label: 'People who ever entered', value: shown(one.enrolled) },
    ...(hasGoal(one, definition) ? [{ label: 'Reached the goal', value: shown(one.reached) }] : []),
    ...endFigures(one),
  ]
}
