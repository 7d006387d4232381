import { keepNewest } from '../../bounded/index.js'
import { audienceIn, type NamedAudience } from '../../segments/index.js'
import { isPassing, prepared, type Read } from '../../store/index.js'
import { type Compiled, compile } from './compile.js'
import type { AutomationDefinition } from './definition.js'
import { listensTo } from './exit-rules.js'

/** A version that runs go through. It never changes, so that it is read and compiled once. */
export interface FrozenVersion {
  automationId: string
  version: number
  compiled: Compiled
  /** Events of exit rules and the goal, which a run hears wherever it stands. */
  listens: readonly string[]
  /** Events that its steps wait for. */
  waitsFor: readonly string[]
  topics: readonly string[]
  /** Some of its conditions ask what became of a mail. */
  asksOfMail: boolean
  /** The segments and campaigns that its rules ask for. */
  asks: NamedAudience
}

/** Reads a frozen version; `read` may be a transaction. */
export type Versions = (read: Read, automationId: string, version: number) => Promise<FrozenVersion>

// Versions that a thread keeps, of some tens of kilobytes each.
const maxKept = 500

/** Keeps the versions that this thread has used last. */
export function makeVersions(): Versions {
  const kept = new Map<string, FrozenVersion>()
  return async (read, automationId, version) => {
    const name = `${automationId} ${version}`
    const known = kept.get(name)
    if (known !== undefined) return known
    const found = await readVersion(read, automationId, version)
    keepNewest(kept, name, found, maxKept)
    return found
  }
}

/**
 * The version, or undefined where what is stored of it cannot be read: such a version fails its own runs when they are
 * due, and must not undo the event, or the outcome of a mail, that it would hear of.
 */
export async function readableVersion(
  versions: Versions,
  read: Read,
  { automationId, version }: { automationId: string; version: number },
): Promise<FrozenVersion | undefined> {
  try {
    return await versions(read, automationId, version)
  } catch (error) {
    if (isPassing(error)) throw error
    return undefined
  }
}

/** Compiled once and kept (`makeVersions`): a frozen version never changes, and thousands of runs walk through it. */
async function readVersion(
  read: Read,
  automationId: string,
  version: number,
): Promise<FrozenVersion> {
  const [row] = await versionOf(read, { automationId, version })
  if (row === undefined) throw new Error(`Automation ${automationId} has no version ${version}`)
  const steps = await stepsOf(read, { automationId, version })
  const ids = new Map(steps.map(({ id, key }) => [key, id]))
  const definition = JSON.parse(row.definition) as AutomationDefinition
  return frozenOf(definition, {
    automationId,
    version,
    idOf(key) {
      const id = ids.get(key)
      if (id === undefined) throw new Error(`${automationId} was not frozen with its step ${key}`)
      return id
    },
  })
}

/** A definition as runs would go through it. */
export function frozenOf(
  definition: AutomationDefinition,
  {
    automationId,
    version,
    ...ids
  }: { automationId: string; version: number; idOf?: (key: string) => number },
): FrozenVersion {
  const compiled = compile(definition, { seed: automationId, ...ids })
  const listens = listensTo(compiled)
  return { automationId, version, compiled, listens, ...needsOf(definition) }
}

/** Which of the fields above the runs of a definition need. */
function needsOf({ steps, settings = {} }: AutomationDefinition) {
  const waitsFor = steps.flatMap((step) =>
    step.type === 'wait_for_event' ? [step.config.eventName] : [],
  )
  const topics = steps.flatMap((step) =>
    step.type === 'send_email' && step.config.topicId !== undefined
      ? [step.config.topicId.toLowerCase()]
      : [],
  )
  const json = JSON.stringify([steps, settings])
  return {
    waitsFor: [...new Set(waitsFor)],
    topics: [...new Set(topics)],
    // This finds more than it must: a text that only looks like such a field costs a query.
    asksOfMail: json.includes('"email.'),
    asks: audienceIn(json),
  }
}

/** The definition of a version, as JSON. */
const versionOf = prepared<{ automationId: string; version: number }, { definition: string }>(
  (db, { automationId, version }) =>
    db
      .selectFrom('automation_versions')
      .select('definition')
      .where('automation_id', '=', automationId)
      .where('version', '=', version),
)

/** The numbers of a version's steps. */
const stepsOf = prepared<{ automationId: string; version: number }, { id: number; key: string }>(
  (db, { automationId, version }) =>
    db
      .selectFrom('automation_steps')
      .select(['id', 'key'])
      .where('automation_id', '=', automationId)
      .where('version', '=', version),
)
