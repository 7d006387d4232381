import { sql } from 'kysely'
import { type AccountBilling, checkOpen } from '../billing/index.js'
import { type Clock, pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { type EndingRow, endingOf, endRuns, makeTally } from '../runs/index.js'
import { prepared, type Read, type Store, type Tx } from '../store/index.js'
import { type Automation, findAutomation, readDefinition } from './automation.js'
import { checkEnabling } from './check-enabling.js'
import type { AutomationDefinition } from './definition.js'
import type { StepFault } from './graph.js'
import { validate } from './validate.js'

/*
 *   (made) ──▶ disabled ──enable──▶ enabled ──disable──▶ disabled
 *   disabled, enabled ──archive──▶ archived (its live runs are cancelled)
 */

export interface StateDeps {
  store: Store
  clock: Clock
}

/** What is written with a change, and of what it came to. */
export type Alongside = (tx: Tx, automation: Automation) => Promise<void>
const nothing: Alongside = async () => {}

export interface NewAutomation {
  name: string
  steps: unknown
  connections: unknown
  settings?: unknown
}

/** Makes an automation, always disabled. Throws a 422 that names every fault by its step. */
export async function createAutomation(
  { store, clock }: StateDeps,
  billing: AccountBilling,
  { name, ...given }: NewAutomation,
  alongside: Alongside = nothing,
): Promise<Automation> {
  checkOpen(billing)
  const definition = definitionIn(given)
  const id = store.ids.uuid()
  const { accountId } = billing
  const now = clock.now()
  return await store.write(async (tx) => {
    await tx
      .insertInto('automations')
      .values({
        ...{ id, account_id: accountId, name: name.trim(), status: 'disabled', version: 1 },
        ...{ running: 0, waiting: 0, completed: 0, exited: 0, failed: 0, cancelled: 0 },
        ...{ enrolled: 0, created_at: now, updated_at: now, paused_at: null },
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

// A definition of 256 KiB can have 100,000 faults; how many there are is in the message.
const maxErrors = 200

function invalidAutomation(errors: readonly StepFault[]): ApiError {
  const [first] = errors
  const where = first?.key == null ? '' : `step "${first.key}": `
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const message = `The automation is not valid: ${where}${first?.error}${more}`
  const fields = { errors: errors.slice(0, maxErrors) }
  return new ApiError('validation_error', message, { status: 422, fields })
}

export type AutomationChanges = Partial<NewAutomation>

/**
 * Changes what is given; steps and connections wholly. Of a version that was ever enabled the change
 * makes a new one, so that runs go on as they began. Throws a 422 while it is enabled, a 409 for an
 * archived one.
 */
export async function editAutomation(
  { store, clock }: StateDeps,
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
        // Fields that are none too, which are refused by their names.
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

async function putVersion(tx: Tx, id: string, version: number, definition: AutomationDefinition) {
  const row = { definition: JSON.stringify(definition), frozen_at: null }
  await tx
    .insertInto('automation_versions')
    .values({ automation_id: id, version, ...row })
    .onConflict((conflict) => conflict.columns(['automation_id', 'version']).doUpdateSet(row))
    .execute()
}

const refuseArchived = ({ status }: Automation) => {
  if (status === 'archived') throw new ApiError('conflict', 'The automation is archived')
}

// automations.md §3.8
const maxEnabled = 200
const maxPerEvent = 50

/**
 * Lets events start runs, in the version as it is now, which never changes from then on. Throws a 422
 * when a step names what is not there, a 402 for marketing mail without a plan. Enabled already, it
 * changes nothing.
 */
export async function enableAutomation(
  { store, clock }: StateDeps,
  billing: AccountBilling,
  id: string,
  alongside: Alongside = nothing,
): Promise<Automation> {
  checkOpen(billing)
  const { accountId } = billing
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    refuseArchived(automation)
    if (automation.status === 'enabled') return automation
    const { definition, frozenAt } = await readDefinition(tx, automation.id, automation.version)
    const faults = await checkEnabling(tx, billing, definition)
    if (faults.length > 0) throw invalidAutomation(faults)
    const event = triggerEventOf(definition)
    await refuseMoreThan(tx, accountId, event)
    const now = clock.now()
    if (frozenAt === null) await freeze(tx, automation, definition, now)
    const { version } = automation
    await tx
      .insertInto('automation_triggers')
      .values({ account_id: accountId, event, automation_id: automation.id, version })
      .execute()
    await setStatus(tx, automation.id, 'enabled', now)
    return await changed(tx, automation, alongside)
  })
}

function triggerEventOf({ steps }: AutomationDefinition): string {
  for (const step of steps) if (step.type === 'trigger') return step.config.eventName
  throw new Error('A definition without a trigger was kept')
}

async function refuseMoreThan(tx: Tx, accountId: string, event: string): Promise<void> {
  const enabled = await tx
    .selectFrom('automation_triggers')
    .select('event')
    .where('account_id', '=', accountId)
    .execute()
  if (enabled.length >= maxEnabled) {
    throw tooMany(`At most ${maxEnabled} automations may be enabled; disable another first`)
  }
  if (enabled.filter((one) => one.event === event).length >= maxPerEvent) {
    throw tooMany(`At most ${maxPerEvent} enabled automations may begin with one event`)
  }
}

const tooMany = (message: string) => new ApiError('validation_error', message, { status: 422 })

/** From now on the version never changes, and its steps have rows to count on. */
async function freeze(
  tx: Tx,
  { id, version }: Automation,
  { steps }: AutomationDefinition,
  now: number,
): Promise<void> {
  const none = {
    ...{ entered: 0, done: 0, skipped: 0, failed: 0, met: 0, not_met: 0, received: 0 },
    ...{ timed_out: 0, mails: 0, delivered: 0, bounced: 0, opened: 0, clicked: 0 },
    unsubscribed: 0,
  }
  for (const { key, type } of steps) {
    await tx
      .insertInto('automation_steps')
      .values({ id: await nextStepId(tx), automation_id: id, version, key, type, ...none })
      .execute()
  }
  await tx
    .updateTable('automation_versions')
    .set({ frozen_at: now })
    .where('automation_id', '=', id)
    .where('version', '=', version)
    .execute()
}

async function nextStepId(tx: Tx): Promise<number> {
  const [last] = await lastStep(tx, {})
  return (last?.id ?? 0) + 1
}

const lastStep = prepared<object, { id: number | null }>((db) =>
  db.selectFrom('automation_steps').select((eb) => eb.fn.max('id').as('id')),
)

/** New entries stop; runs that are under way finish. */
export async function disableAutomation(
  { store, clock }: StateDeps,
  accountId: string,
  id: string,
  alongside: Alongside = nothing,
): Promise<Automation> {
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    refuseArchived(automation)
    if (automation.status === 'disabled') return automation
    await stopStarting(tx, automation)
    await setStatus(tx, automation.id, 'disabled', clock.now())
    return await changed(tx, automation, alongside)
  })
}

async function changed(tx: Tx, { account_id, id }: Automation, alongside: Alongside) {
  const automation = await findAutomation(tx, account_id, id)
  await alongside(tx, automation)
  return automation
}

async function stopStarting(tx: Tx, { account_id, id }: Automation): Promise<void> {
  await tx
    .deleteFrom('automation_triggers')
    .where('account_id', '=', account_id)
    .where('automation_id', '=', id)
    .execute()
}

async function setStatus(tx: Tx, id: string, status: Automation['status'], now: number) {
  await tx
    .updateTable('automations')
    .set({ status, updated_at: now })
    .where('id', '=', id)
    .execute()
}

// Some milliseconds of the turn to write.
const perWrite = 200
// Between writes others have their turn.
const restMs = 20
// What a client waits for; what is left is for `cancelArchived`.
const atOnce = 5_000

/** Stops it for good; its live runs are cancelled. From now on the engine runs none of them. */
export async function archiveAutomation(
  deps: StateDeps,
  accountId: string,
  id: string,
  alongside: Alongside = nothing,
): Promise<Automation> {
  const { store, clock } = deps
  const archived = await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    if (automation.status === 'archived') return automation
    await stopStarting(tx, automation)
    await tx.deleteFrom('automation_backfills').where('automation_id', '=', automation.id).execute()
    await setStatus(tx, automation.id, 'archived', clock.now())
    return await changed(tx, automation, alongside)
  })
  for (let taken = 0; taken < atOnce; taken += perWrite) {
    if (await cancelSlice(deps, archived.id)) break
  }
  return await findAutomation(store.read, accountId, id)
}

/** What archiving has left to do, one that a stop or a crash cut short included. */
export async function cancelArchived(deps: StateDeps, signal: AbortSignal): Promise<void> {
  for (const { id } of await endingAutomations(deps.store.read, {})) {
    while (!signal.aborted && !(await cancelSlice(deps, id))) {
      await pause(deps.clock, restMs, signal)
    }
  }
}

const endingAutomations = prepared<object, { id: string }>((db) =>
  db
    .selectFrom('automations')
    .select('id')
    // Literals, or SQLite does not see that an index has just these.
    .where(sql<boolean>`status = 'archived' and running + waiting > 0`),
)

/** Resolves with whether no live run is left. */
async function cancelSlice({ store, clock }: StateDeps, id: string): Promise<boolean> {
  return await store.write(async (tx) => {
    const rows = await tx
      .selectFrom('automation_live')
      .select(['id', 'step_id', 'history', 'started_at'])
      .where('automation_id', '=', id)
      .limit(perWrite)
      .execute()
    await cancelRows(tx, rows, 'archived', clock.now())
    return rows.length < perWrite
  })
}

async function cancelRows(tx: Tx, rows: readonly EndingRow[], reason: string, at: number) {
  const tally = makeTally()
  const endings = rows.map((row) => endingOf(row, 'cancelled', reason, at))
  await endRuns(tx, endings, { at, tally })
  await tally.write(tx)
}

/** Stops one run. Throws a 404 for a run that the account has not, a 409 for one that has ended. */
export async function cancelRun(
  { store, clock }: StateDeps,
  accountId: string,
  runId: string,
  alongside: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await store.write(async (tx) => {
    const row = await liveRow(tx, accountId, runId)
    if (row !== undefined) {
      await cancelRows(tx, [row], 'api', clock.now())
      return await alongside(tx)
    }
    const ended = await tx
      .selectFrom('automation_runs')
      .select('status')
      .where('id', '=', runId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (ended === undefined) throw new ApiError('not_found', 'No such run')
    throw new ApiError('conflict', `The run has ended already: it is ${ended.status}`)
  })
}

async function liveRow(read: Read, accountId: string, id: string): Promise<EndingRow | undefined> {
  return await read
    .selectFrom('automation_live')
    .select(['id', 'step_id', 'history', 'started_at'])
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}
