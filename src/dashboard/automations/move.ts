import { counted } from '../../amounts/index.js'
import { findAutomation, moveFor, readDefinition, versionsShown } from '../../automations/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { type AutomationFrame, frameOf } from './frame.js'
import { wordBook } from './word-book.js'
import { stepTitle } from './words.js'

interface MoveView extends AutomationFrame {
  /** Undefined: it was never enabled. */
  version: number | undefined
  versions: { value: string; label: string }[]
  says: string
  groups: { step: string; version: string; people: string; moves: string }[]
  left: number
  faults: Faults
}

/** Who would move to another version, step by step. Throws a 404. */
export async function showMove(
  deps: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, query } = visit
  const found = await findAutomation(read, account.id, visit.params.id ?? '')
  const { definition } = await readDefinition(read, found.id, found.version)
  const book = await wordBook(read, account.id, [definition])
  const versions = (await versionsShown(read, found)).filter((one) => one.frozen_at !== null)
  const asked = Number(query.get('version') || Number.NaN)
  const version = (versions.find((one) => one.version === asked) ?? versions[0])?.version
  const plan =
    version === undefined
      ? { groups: [], left: 0 }
      : await moveFor(deps, found, { version, dryRun: true }, 0)
  const title = (key: string) => {
    const step = definition.steps.find((one) => one.key === key)
    return step === undefined ? key : stepTitle(step, book, definition)
  }
  const view: MoveView = {
    ...frameOf(visit, found, { here: 'runs', definition, book }),
    version,
    versions: versions.map((one) => ({
      value: String(one.version),
      label: `Version ${one.version}`,
    })),
    says:
      plan.left === 0
        ? 'Nobody would move.'
        : `${counted(plan.left, 'person', 'people')} would go on by the steps of version ${version}. What they wait for stays as it is.`,
    groups: plan.groups.map((one) => ({
      step: title(one.step),
      version: String(one.version),
      people: one.runs.toLocaleString('en-GB'),
      moves: one.stays === null ? 'Move' : `Stay: ${one.stays}`,
    })),
    left: plan.left,
    faults,
  }
  return page('automations/move', view, { title: `${found.name}: move people` })
}
