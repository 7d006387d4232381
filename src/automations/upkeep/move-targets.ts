import { ApiError, type RefusalCode } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import {
  type AutomationDefinition,
  type Compiled,
  type CompiledStep,
  compile,
  makeVersions,
  type StepDefinition,
  staysOn,
} from '../definition/index.js'

/**
 * Where runs go whose step the version does not have: by the key of their step, the key of the step that they begin.
 */
export type Instead = Readonly<Record<string, string>>

/** What becomes of the runs that stand at a step. */
interface Target {
  key: string
  type: string
  /** The step that stands for it: the one of the same key and type, or the one that was given. */
  to: CompiledStep | undefined
  /** Why a run that is there stays; null if it moves. */
  stays: string | null
  /** It begins `to` as if it had just come there. */
  isAnew: boolean
}

/** A version to which runs may move. */
export interface Targets {
  listens: readonly string[]
  outlives: 0 | 1
  /** What becomes of a run at this step. */
  of(stepId: number): Target
}

/** Reads all versions of the automation, so that a write need not. Throws a 422 for a key that none of them has. */
export async function targetsOf(
  read: Read,
  id: string,
  version: number,
  instead: Instead = {},
): Promise<Targets> {
  const frozen = await frozenVersions(read, id)
  if (!frozen.includes(version))
    throw refused(`There is no version ${version} that was ever enabled`, 'noVersion', version)
  const target = await makeVersions()(read, id, version)
  for (const key of Object.values(instead)) {
    const step = target.compiled.byKey.get(key)?.step
    if (step !== undefined && step.type !== 'trigger') continue
    throw refused(
      `Version ${version} has no step "${key}" that people could begin; name one that it has`,
      'noStep',
      version,
    )
  }
  const known = await knownTargets(read, id, frozen, {
    compiled: target.compiled,
    called: `version ${version}`,
    instead,
  })
  return {
    listens: target.listens,
    outlives: staysOn(target.compiled, 'unsubscribed') ? 1 : 0,
    of: (stepId) => known.get(stepId) ?? newer,
  }
}

/** The same for a definition that is no version yet; only good for a plan. */
export async function targetsOfDraft(
  read: Read,
  id: string,
  definition: AutomationDefinition,
): Promise<Targets> {
  const compiled = compile(definition, { seed: id })
  const to = { compiled, called: 'the draft', instead: {} }
  const known = await knownTargets(read, id, await frozenVersions(read, id), to)
  return { listens: [], outlives: 0, of: (stepId) => known.get(stepId) ?? newer }
}

const refused = (message: string, is: RefusalCode, version: number) =>
  new ApiError('validation_error', message, { status: 422, is, names: [version] })

// A version that was frozen since then.
const newer: Target = { key: '-', type: '-', to: undefined, stays: 'it is newer', isAnew: false }

async function frozenVersions(read: Read, id: string): Promise<number[]> {
  const rows = await read
    .selectFrom('automation_versions')
    .select('version')
    .where('automation_id', '=', id)
    .where('frozen_at', 'is not', null)
    .execute()
  return rows.map(({ version }) => version)
}

async function knownTargets(
  read: Read,
  id: string,
  frozen: readonly number[],
  { compiled, called, instead }: { compiled: Compiled; called: string; instead: Instead },
): Promise<ReadonlyMap<number, Target>> {
  const versions = makeVersions()
  const known = new Map<number, Target>()
  for (const one of frozen) {
    const from = await versions(read, id, one)
    for (const { id: stepId, step } of from.compiled.byId.values()) {
      const { key, type } = step
      const same = compiled.byKey.get(key)
      const stays = staysFor(step, same?.step, called)
      const given = Object.hasOwn(instead, key) ? instead[key] : undefined
      const other = stays === null || given === undefined ? undefined : compiled.byKey.get(given)
      const to = other ?? (same?.step.type === type ? same : undefined)
      const isAnew = other !== undefined
      known.set(stepId, { key, type, to, stays: isAnew ? null : stays, isAnew })
    }
  }
  return known
}

/**
 * A run moves only where its step means the same in both versions; what it waits for is in its row
 * and would otherwise be forgotten.
 */
function staysFor(
  step: StepDefinition,
  to: StepDefinition | undefined,
  version: string,
): string | null {
  if (to === undefined) return `${version} has no step ${step.key}`
  if (to.type !== step.type) return `in ${version} the step is a ${to.type}`
  // The event that it is parked on stands in the row; an earlier event of another name would not be heard.
  const isOtherEvent =
    step.type === 'wait_for_event' &&
    to.type === 'wait_for_event' &&
    step.config.eventName !== to.config.eventName
  return isOtherEvent ? `in ${version} the step waits for another event` : null
}
