import { mergePieces, type Renderer, readDraft } from '../../templates/index.js'
import { type AutomationDefinition, limits } from './definition.js'
import { invalidAutomation } from './edit.js'
import type { StepFault } from './fault.js'
import { soundStep } from './sound.js'
import { validate } from './validate.js'

/** What reads Liquid: the thread that renders (templates/README.md). */
export interface LiquidDeps {
  renderer: Renderer
}

/**
 * What is wrong with the Liquid of the subjects that steps have of their own; a template's subject is read when the
 * template is saved. What is no step is passed over, for `validate` to tell. Throws 503 when the renderer has no room.
 */
export async function subjectFaults(
  { renderer }: LiquidDeps,
  accountId: string,
  steps: unknown,
): Promise<StepFault[]> {
  const given = Array.isArray(steps) ? steps.slice(0, limits.steps) : []
  const faults: StepFault[] = []
  for (const one of given) {
    const step = soundStep(one)
    if (step?.type !== 'send_email') continue
    const { subject } = step.config
    // A subject of plain text and names needs no engine.
    if (subject === undefined || mergePieces(subject) !== undefined) continue
    const { fault } = await readDraft(renderer, accountId, { subject, html: '' })
    if (fault === undefined) continue
    const at = fault.column === undefined ? '' : ` at column ${fault.column}`
    const says = `Expected Liquid, but it cannot be read${at}: ${fault.message}`
    const names = fault.column === undefined ? [] : [String(fault.column)]
    const is = { code: 'brokenSubject', place: ['subject'], says, names }
    faults.push({ key: step.key, error: `subject: ${says}`, is })
  }
  return faults
}

/** All that is wrong with a definition by itself: what `validate` finds, and subjects that cannot be read. */
export const faultsOf = async (
  deps: LiquidDeps,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault[]> => [
  ...validate(definition).faults,
  ...(await subjectFaults(deps, accountId, definition.steps)),
]

/** Throws a 422 that names the steps with such a subject. */
export async function refuseBrokenSubjects(
  deps: LiquidDeps,
  accountId: string,
  steps: unknown,
): Promise<void> {
  const faults = await subjectFaults(deps, accountId, steps)
  if (faults.length > 0) throw invalidAutomation(faults)
}
