import { counted } from '../../amounts/index.js'
import {
  type AutomationDefinition,
  findAutomation,
  moveFor,
  readDefinition,
  versionsShown,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import { inQuotes } from '../shell/names.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { flowGraph } from './graph.js'
import { type MovedGroup, movedGroups } from './moved-groups.js'
import { chosenLive, chosenOf, runChoices } from './runs-filter.js'
import { wordBook } from './word-book.js'
import { titlesApart } from './words.js'

interface MoveView extends AutomationFrame {
  /** Undefined: it was never enabled. */
  version: number | undefined
  versions: { value: string; label: string }[]
  says: string
  groups: (MovedGroup & { field: Html | undefined })[]
  left: number
  /** Which of them it is about, in words and as the form sends it; undefined: all. */
  whom: string | undefined
  filters: { name: string; value: string }[]
  /** Where the form is sent. */
  action: string
  /** Somebody stays who could be given another step. */
  canChoose: boolean
  faults: Faults
}

/** Shows who would move to another version, step by step. Throws a 404. */
export async function showMove(
  deps: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, query } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const versions = (await versionsShown(read, found)).filter((one) => one.frozen_at !== null)
  const asked = Number(query.get('to') || Number.NaN)
  const { only } = await chosenLive(read, found, query)
  const chosen = await chosenOf(read, found, query)
  const { says: whom } = await runChoices(read, found, { definition, book, asked: chosen.asked })
  const version = (versions.find((one) => one.version === asked) ?? versions[0])?.version
  const plan =
    version === undefined
      ? { groups: [], left: 0 }
      : await moveFor(deps, found, { version, only, dryRun: true }, 0)
  const target =
    version === undefined ? definition : (await readDefinition(read, found.id, version)).definition
  const to = { definition: target, called: `Version ${version}` }
  const groups = await movedGroups(read, found, plan.groups, to)
  const choices = await choicesOf(read, account.id, target)
  const view: MoveView = {
    ...frameOf(visit, found, { here: 'runs', definition, book }),
    version,
    versions: versions.map((one) => ({
      value: String(one.version),
      label: `Version ${one.version}`,
    })),
    says:
      plan.left === 0
        ? staying(groups)
        : `${counted(plan.left, 'person', 'people')} would go on by the steps of version ${version}. What they wait for stays as it is.`,
    groups: groups.map((one, at) => ({
      ...one,
      field: one.stays === undefined ? undefined : chooser(one, at, choices),
    })),
    left: plan.left,
    whom: only === undefined ? undefined : whom,
    filters: Object.entries(chosen.filters).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value }],
    ),
    action: linkTo(`${base}/automations/${found.id}/move`, chosen.filters),
    canChoose: groups.some(({ stays }) => stays !== undefined),
    faults,
  }
  return page('automations/move', view, { title: `${found.name}: move people` })
}

function staying(groups: readonly MovedGroup[]): string {
  const people = groups.reduce((sum, { count }) => sum + count, 0)
  if (people === 0) return 'Nobody would move.'
  return `${counted(people, 'person is', 'people are')} at steps that this version has not. Choose below with which step they go on.`
}

/** The steps where people can begin instead of a deleted one. */
async function choicesOf(read: Read, accountId: string, definition: AutomationDefinition) {
  const book = await wordBook(read, accountId, [definition])
  const called = titlesApart(definition, book)
  const steps = flowGraph(definition)
    .steps.filter(({ type }) => type !== 'trigger')
    .map(({ key }) => ({ value: key, label: `Begin: ${called(key)}` }))
  return [{ value: '', label: 'Stay in their version' }, ...steps]
}

/** Why a group stays, and the choice of another step for it. */
const chooser = (
  { key, step, stays }: MovedGroup,
  at: number,
  options: readonly { value: string; label: string }[],
): Html =>
  html`${stays}. <input type="hidden" name="step" value="${key}">${field({
    name: 'begins',
    id: `begins-${at}`,
    label: `Who is at ${inQuotes(step)}`,
    type: 'select',
    options: [...options],
    value: '',
  })}`
