import { type AccountBilling, checkOpen } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import {
  type Automation,
  type AutomationDeps,
  discardDraft,
  draftIn,
  faultsOf,
  findAutomation,
  invalidAutomation,
  keepTyped,
  type LiquidDeps,
  putInForce,
  readWritten,
  refuseArchived,
  toldFaults,
  type WrittenAutomation,
} from './definition/index.js'

/** What is written of an automation, its draft or its version, as clients see it. */
export async function shownDraft(
  deps: LiquidDeps,
  accountId: string,
  { name, definition, revision, isDraft }: WrittenAutomation,
) {
  const { steps, connections, settings = {} } = definition
  const errors = toldFaults(await faultsOf(deps, accountId, definition))
  return { revision, isDraft, name, steps, connections, settings, errors }
}

export const draftAnswer = async (
  { store: { read }, renderer }: { store: { read: Read } } & LiquidDeps,
  automation: Automation,
) => shownDraft({ renderer }, automation.account_id, await readWritten(read, automation))

/**
 * Writes the draft of an automation of the account. Throws a 404, a 409 where it was changed since, a 422 for what is
 * no draft.
 */
export async function writeDraft(
  deps: AutomationDeps & LiquidDeps,
  billing: AccountBilling,
  id: string,
  {
    revision,
    name,
    steps,
    connections,
    settings,
  }: {
    revision?: string | undefined
    name?: string | undefined
    steps?: unknown
    connections?: unknown
    settings?: unknown
  },
) {
  checkOpen(billing)
  if ((steps === undefined) !== (connections === undefined)) {
    throw new ApiError('validation_error', 'steps and connections are replaced together')
  }
  const { read } = deps.store
  const { accountId } = billing
  const before = await readWritten(read, await findAutomation(read, accountId, id))
  const given = {
    steps: steps ?? before.definition.steps,
    connections: connections ?? before.definition.connections,
    settings: settings ?? before.definition.settings,
  }
  const { definition, faults } = draftIn(given)
  if (definition === undefined) throw invalidAutomation(faults)
  const kept = { name: name ?? before.name, definition, revision: revision ?? before.revision }
  await keepTyped(deps, accountId, id, kept)
  return await draftAnswer(deps, await findAutomation(read, accountId, id))
}

/** What is written, where that is a draft. Throws a 404. */
async function requireDraft(read: Read, automation: Automation): Promise<WrittenAutomation> {
  const written = await readWritten(read, automation)
  if (written.isDraft) return written
  const message = 'Nothing is written that is not in the version: there is no draft'
  throw new ApiError('not_found', message)
}

/**
 * Puts the draft in force. Throws a 404 where there is none, a 409 where it was changed since, otherwise as enabling
 * does.
 */
export async function enableWritten(
  deps: AutomationDeps & LiquidDeps,
  billing: AccountBilling,
  id: string,
  given: string | undefined,
): Promise<Automation> {
  checkOpen(billing)
  const { read } = deps.store
  const automation = await findAutomation(read, billing.accountId, id)
  refuseArchived(automation)
  const { revision: latest } = await requireDraft(read, automation)
  const revision = given ?? latest
  return await putInForce(deps, billing, automation.id, revision)
}

/** Throws the draft away; the version stays. */
export async function dropDraft(deps: AutomationDeps & LiquidDeps, accountId: string, id: string) {
  const { read } = deps.store
  await requireDraft(read, await findAutomation(read, accountId, id))
  await discardDraft(deps, accountId, id)
  return await draftAnswer(deps, await findAutomation(read, accountId, id))
}
