import {
  type AccountBilling,
  checkOpen,
  type Plans,
  refuseBeyondCeiling,
} from '../../billing/index.js'
import { ApiError } from '../../errors/index.js'
import type { Tx } from '../../store/index.js'
import {
  type Automation,
  type AutomationDeps,
  findAutomation,
  nothing,
  readDefinition,
  refuseArchived,
  type WrittenAlongside,
} from './automation.js'
import { type AutomationDefinition, limits } from './definition.js'
import { type StepFault, toldFaults } from './fault.js'
import { validate } from './validate.js'

/** An automation as a client gives it: what is unknown is judged by `validate`. */
export interface NewAutomation {
  name: string
  steps: unknown
  connections: unknown
  settings?: unknown
}

/**
 * Makes an automation, always disabled. Throws a 422 that names every fault by its step, and with `plans` a 403 where
 * the account has as many as it may.
 */
export async function createAutomation(
  { store, clock, plans }: AutomationDeps & { plans?: Pick<Plans, 'ceilings'> },
  billing: AccountBilling,
  { name, ...given }: NewAutomation,
  alongside: WrittenAlongside = nothing,
): Promise<Automation> {
  checkOpen(billing)
  const definition = definitionIn(given)
  const id = store.ids.uuid()
  const { accountId } = billing
  const now = clock.now()
  return await store.write(async (tx) => {
    if (plans !== undefined) await refuseBeyondCeiling(tx, plans, accountId, 'automations')
    await tx
      .insertInto('automations')
      .values({
        id,
        account_id: accountId,
        name: name.trim(),
        status: 'disabled',
        version: 1,
        running: 0,
        waiting: 0,
        completed: 0,
        exited: 0,
        failed: 0,
        cancelled: 0,
        enrolled: 0,
        created_at: now,
        updated_at: now,
        paused_at: null,
      })
      .execute()
    await putVersion(tx, id, 1, definition)
    const made = await findAutomation(tx, accountId, id)
    await alongside(tx, made)
    return made
  })
}

/** The definition that was given, or a 422 with all of its faults. */
export function definitionIn(given: object): AutomationDefinition {
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  const { definition, faults } = validate(Object.fromEntries(said))
  if (definition === undefined) throw invalidAutomation(faults)
  return definition
}

/** A 422 that has what is wrong with a definition, for pages too. */
export class InvalidAutomation extends ApiError {
  readonly faults: readonly StepFault[]

  constructor(message: string, faults: readonly StepFault[]) {
    const fields = { errors: toldFaults(faults.slice(0, limits.faultsTold)) }
    super('validation_error', message, { status: 422, fields })
    this.faults = faults.slice(0, limits.faultsTold)
  }
}

/** A 422 that names what is wrong with a definition. */
export function invalidAutomation(errors: readonly StepFault[]): ApiError {
  const [first] = errors
  const where = first?.key == null ? '' : `step "${first.key}": `
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const message = `The automation is not valid: ${where}${first?.error}${more}`
  return new InvalidAutomation(message, errors)
}

/** What is to be changed; the rest stays. */
export type AutomationChanges = Partial<NewAutomation>

/**
 * Changes what is given; steps and connections are replaced whole. A change to a version that was ever enabled makes a
 * new version, so that runs go on as they began. Throws a 422 while the automation is enabled, a 409 where it is
 * archived.
 */
export async function editAutomation(
  { store, clock }: AutomationDeps,
  billing: AccountBilling,
  id: string,
  { name, ...changes }: AutomationChanges,
): Promise<Automation> {
  checkOpen(billing)
  const { accountId } = billing
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    if (automation.status === 'enabled') {
      const message = 'The automation is enabled; disable it before you change it'
      throw new ApiError('validation_error', message, { status: 422 })
    }
    refuseArchived(automation)
    let { version } = automation
    const hasChanges = Object.values(changes).some((change) => change !== undefined)
    if (hasChanges) {
      const { definition, frozenAt } = await readDefinition(tx, automation.id, version)
      const next = definitionIn({
        // Unknown fields too: they are refused by their names.
        ...changes,
        steps: changes.steps ?? definition.steps,
        connections: changes.connections ?? definition.connections,
        settings: changes.settings ?? definition.settings,
      })
      if (frozenAt !== null) version += 1
      await putVersion(tx, automation.id, version, next)
    }
    await tx
      .updateTable('automations')
      .set({ name: name?.trim() ?? automation.name, version, updated_at: clock.now() })
      .where('id', '=', automation.id)
      .execute()
    return await findAutomation(tx, accountId, id)
  })
}

/**
 * Replaces a version that was never enabled. A version that was enabled is frozen, and the caller has made the number
 * of the next (interface.md: enabling freezes the current version).
 */
export async function putVersion(
  tx: Tx,
  id: string,
  version: number,
  definition: AutomationDefinition,
) {
  const row = { definition: JSON.stringify(definition), frozen_at: null }
  await tx
    .insertInto('automation_versions')
    .values({ automation_id: id, version, ...row })
    .onConflict((conflict) => conflict.columns(['automation_id', 'version']).doUpdateSet(row))
    .execute()
}
