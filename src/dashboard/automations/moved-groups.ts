import {
  type Automation,
  type AutomationDefinition,
  type MoveGroup,
  readDefinition,
} from '../../automations/index.js'
import type { Read } from '../../store/index.js'
import { wordBook } from './word-book.js'
import { titlesApart } from './words.js'

/** People of an older version at one of its steps, and what a move does with them. */
export interface MovedGroup {
  /** The key of the step; a form names the group by it. */
  key: string
  step: string
  version: string
  count: number
  people: string
  /** Why they stay; undefined: they move. */
  stays: string | undefined
}

/** Groups of a move in words: each step has its name in its own version. */
export async function movedGroups(
  read: Read,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  groups: readonly MoveGroup[],
  to: { definition: AutomationDefinition; called: string },
): Promise<MovedGroup[]> {
  const versions = [...new Set(groups.map(({ version }) => version))]
  const found = await Promise.all(
    versions.map(async (one): Promise<[number, AutomationDefinition]> => {
      const { definition } = await readDefinition(read, id, one)
      return [one, definition]
    }),
  )
  const definitions = new Map(found)
  const book = await wordBook(read, account_id, [...definitions.values()])
  return groups.map(({ version, step: key, runs, stays, type }) => {
    const of = definitions.get(version)
    const step = of?.steps.find((one) => one.key === key)
    return {
      key,
      step: of === undefined || step === undefined ? 'A step' : titlesApart(of, book)(key),
      version: String(version),
      count: runs,
      people: runs.toLocaleString('en-GB'),
      stays: stays === null ? undefined : whyOf(to, { key, type }),
    }
  })
}

function whyOf(
  { definition, called }: { definition: AutomationDefinition; called: string },
  { key, type }: { key: string; type: string },
): string {
  const step = definition.steps.find((one) => one.key === key)
  if (step === undefined) return `${called} has not this step`
  return step.type === type
    ? `${called} waits for another event here`
    : `${called} does something else here`
}
