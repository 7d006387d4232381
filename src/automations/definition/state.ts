import { sql } from 'kysely'
import { type AccountBilling, checkOpen } from '../../billing/index.js'
import { pause } from '../../clock/index.js'
import { ApiError, type RefusalCode } from '../../errors/index.js'
import { type EndingRow, endingOf, endRuns, makeRunTally } from '../../runs/index.js'
import { prepared, type Read, type Tx } from '../../store/index.js'
import {
  type Automation,
  type AutomationDeps,
  findAutomation,
  nothing,
  readDefinition,
  refuseArchived,
  type WrittenAlongside,
} from './automation.js'
import { isAutomationName } from './automation-name.js'
import { checkEnabling } from './check-enabling.js'
import { followDates, leaveDates } from './date-trigger.js'
import type { AutomationDefinition } from './definition.js'
import { becomeVersion, changedMeanwhile, readWritten } from './draft.js'
import { definitionIn, invalidAutomation } from './edit.js'
import { type LiquidDeps, refuseBrokenSubjects } from './subject-faults.js'

/*
 *   (made) ──▶ disabled ──enable──▶ enabled ──disable──▶ disabled
 *   disabled, enabled ──archive──▶ archived (its live runs are cancelled)
 */

// automations.md §3.8: automations that an account may have enabled, and that one event may start.
const maxEnabled = 200
const maxPerEvent = 50

/**
 * Lets events start runs, in the version as it is now, which never changes from then on. Throws a 422 when a step names
 * what is not there, a 402 for marketing mail without a plan. Changes nothing where the automation is enabled already.
 */
export async function enableAutomation(
  { store, clock, renderer }: AutomationDeps & LiquidDeps,
  billing: AccountBilling,
  id: string,
  alongside: WrittenAlongside = nothing,
): Promise<Automation> {
  checkOpen(billing)
  const { accountId } = billing
  const found = await findAutomation(store.read, accountId, id)
  const { definition } = await readDefinition(store.read, found.id, found.version)
  if (found.status === 'disabled') {
    await refuseBrokenSubjects({ renderer }, accountId, definition.steps)
  }
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    refuseArchived(automation)
    if (automation.status === 'enabled') return automation
    await letStart(tx, billing, automation, clock.now())
    return await changed(tx, automation, alongside)
  })
}

/** Lets events start runs of the automation's version, which is frozen; throws where it could not run. */
async function letStart(
  tx: Tx,
  billing: AccountBilling,
  automation: Automation,
  now: number,
): Promise<void> {
  const { accountId } = billing
  const { definition, frozenAt } = await readDefinition(tx, automation.id, automation.version)
  const faults = await checkEnabling(tx, billing, definition)
  if (faults.length > 0) throw invalidAutomation(faults)
  const event = triggerEventOf(definition)
  await refuseMoreThan(tx, accountId, event)
  if (frozenAt === null) await freeze(tx, automation, definition, now)
  const { version } = automation
  await tx
    .insertInto('automation_triggers')
    .values({ account_id: accountId, event, automation_id: automation.id, version })
    .execute()
  await followDates(tx, automation, definition)
  await setStatus(tx, automation.id, 'enabled', now)
}

/**
 * Puts in force what is written over `revision`: the draft becomes the version, and whoever enters from now on enters
 * it; runs stay in theirs. Throws as enabling does, and a 409 where somebody has changed it since.
 */
export async function putInForce(
  { store, clock, renderer }: AutomationDeps & LiquidDeps,
  billing: AccountBilling,
  id: string,
  revision: string,
): Promise<Automation> {
  checkOpen(billing)
  const { accountId } = billing
  const { read } = store
  const latest = await readWritten(read, await findAutomation(read, accountId, id))
  // A change before the write makes another revision, and the write is refused for that.
  if (latest.revision === revision) {
    await refuseBrokenSubjects({ renderer }, accountId, latest.definition.steps)
  }
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    refuseArchived(automation)
    const written = await readWritten(tx, automation)
    if (written.revision !== revision) throw changedMeanwhile()
    const now = clock.now()
    if (written.isDraft) {
      const { name } = written
      if (!isAutomationName(name)) throw badName()
      const definition = definitionIn(written.definition)
      await becomeVersion(tx, automation, { name, definition, now })
    } else if (automation.status === 'enabled') return automation
    await stopStarting(tx, automation)
    await letStart(tx, billing, await findAutomation(tx, accountId, id), now)
    return await findAutomation(tx, accountId, id)
  })
}

const badName = () =>
  new ApiError('validation_error', 'The name has to have 1 to 200 characters, in one line', {
    status: 422,
    fields: { field: 'name' },
  })

/** The event that starts a definition's runs. */
function triggerEventOf({ steps }: AutomationDefinition): string {
  for (const step of steps) if (step.type === 'trigger') return step.config.eventName
  throw new Error('A definition without a trigger was kept')
}

/** Counted within the write: two requests at once must not both be the fiftieth. */
async function refuseMoreThan(tx: Tx, accountId: string, event: string): Promise<void> {
  const enabled = await tx
    .selectFrom('automation_triggers')
    .select('event')
    .where('account_id', '=', accountId)
    .execute()
  if (enabled.length >= maxEnabled) {
    const message = `At most ${maxEnabled} automations may be enabled; disable another first`
    throw tooMany(message, { is: 'tooManyOn', names: [maxEnabled] })
  }
  if (enabled.filter((one) => one.event === event).length >= maxPerEvent) {
    const message = `At most ${maxPerEvent} enabled automations may begin with the same event`
    throw tooMany(message, { is: 'tooManyOnEvent', names: [maxPerEvent] })
  }
}

/** The 422 for an automation too many. */
const tooMany = (message: string, of: Pick<ApiError, 'names'> & { is: RefusalCode }) =>
  new ApiError('validation_error', message, { status: 422, is: of.is, names: of.names })

/** From now on the version never changes, and its steps have rows to count on. */
async function freeze(
  tx: Tx,
  { id, version }: Automation,
  { steps }: AutomationDefinition,
  now: number,
): Promise<void> {
  const none = {
    entered: 0,
    done: 0,
    skipped: 0,
    failed: 0,
    met: 0,
    not_met: 0,
    received: 0,
    timed_out: 0,
    mails: 0,
    delivered: 0,
    bounced: 0,
    opened: 0,
    clicked: 0,
    unsubscribed: 0,
    moved_away: 0,
    moved_here: 0,
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

/**
 * Numbers of steps go up over all automations and are never used again, because mails keep the
 * number of the step that made them.
 */
async function nextStepId(tx: Tx): Promise<number> {
  const [last] = await lastStep(tx, {})
  return (last?.id ?? 0) + 1
}

/** The highest number of a step. */
const lastStep = prepared<object, { id: number | null }>((db) =>
  db.selectFrom('automation_steps').select((eb) => eb.fn.max('id').as('id')),
)

/** New entries stop; runs that are under way finish. */
export async function disableAutomation(
  { store, clock }: AutomationDeps,
  accountId: string,
  id: string,
  alongside: WrittenAlongside = nothing,
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

/**
 * What the client is told is read back in the same write, so that the remembered answer of an
 * idempotent request is the true one.
 */
async function changed(tx: Tx, { account_id, id }: Automation, alongside: WrittenAlongside) {
  const automation = await findAutomation(tx, account_id, id)
  await alongside(tx, automation)
  return automation
}

/** From here on no event starts it; runs that are under way are not looked at. */
async function stopStarting(tx: Tx, { account_id, id }: Automation): Promise<void> {
  await tx
    .deleteFrom('automation_triggers')
    .where('account_id', '=', account_id)
    .where('automation_id', '=', id)
    .execute()
  await leaveDates(tx, id, 'stopped')
}

/** Writes down what an automation is now. */
async function setStatus(tx: Tx, id: string, status: Automation['status'], now: number) {
  await tx
    .updateTable('automations')
    .set({ status, updated_at: now })
    .where('id', '=', id)
    .execute()
}

// Runs in a transaction, for which other writes wait.
const perWrite = 200
// The rest between two of these, in which others write.
const restMs = 20
// A client waits for so many; `cancelArchived` does the rest.
const atOnce = 5_000

/** Stops it for good; its live runs are cancelled. From now on the engine runs none of them. */
export async function archiveAutomation(
  deps: AutomationDeps,
  accountId: string,
  id: string,
  alongside: WrittenAlongside = nothing,
): Promise<Automation> {
  const { store, clock } = deps
  const archived = await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    if (automation.status === 'archived') return automation
    await stopStarting(tx, automation)
    await leaveDates(tx, automation.id, 'ended')
    await tx.deleteFrom('automation_backfills').where('automation_id', '=', automation.id).execute()
    await setStatus(tx, automation.id, 'archived', clock.now())
    return await changed(tx, automation, alongside)
  })
  for (let taken = 0; taken < atOnce; taken += perWrite) {
    if (await cancelSlice(deps, archived.id)) break
  }
  return await findAutomation(store.read, accountId, id)
}

/** Cancels what archiving has left, also where a stop or a crash cut it short. */
export async function cancelArchived(deps: AutomationDeps, signal: AbortSignal): Promise<void> {
  for (const { id } of await endingAutomations(deps.store.read, {})) {
    while (!signal.aborted && !(await cancelSlice(deps, id))) {
      await pause(deps.clock, restMs, signal)
    }
  }
}

/** Archived automations that still have live runs. */
const endingAutomations = prepared<object, { id: string }>((db) =>
  db
    .selectFrom('automations')
    .select('id')
    // These are literals: otherwise SQLite does not see that an index has just these rows.
    .where(sql<boolean>`status = 'archived' and running + waiting > 0`),
)

/** Resolves with whether no live run is left. */
async function cancelSlice({ store, clock }: AutomationDeps, id: string): Promise<boolean> {
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

/** Ends runs with their histories and counts them in one write, a slice at a time. */
export async function cancelRows(tx: Tx, rows: readonly EndingRow[], reason: string, at: number) {
  const tally = makeRunTally()
  const endings = rows.map((row) => endingOf(row, 'cancelled', reason, at))
  await endRuns(tx, endings, { at, tally })
  await tally.write(tx)
}

/** Stops one run. Throws a 404 for a run that the account has not, a 409 for one that has ended. */
export async function cancelRun(
  { store, clock }: AutomationDeps,
  accountId: string,
  runId: string,
  alongside: (tx: Tx) => Promise<void> = async () => {},
  reason = 'api',
): Promise<void> {
  await store.write(async (tx) => {
    const row = await liveRow(tx, accountId, runId)
    if (row !== undefined) {
      await cancelRows(tx, [row], reason, clock.now())
      return await alongside(tx)
    }
    const ended = await tx
      .selectFrom('automation_runs')
      .select('status')
      .where('id', '=', runId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (ended === undefined)
      throw new ApiError('not_found', 'The account has no automation run with this id', {
        is: 'noRun',
      })
    throw new ApiError('conflict', `The run has ended already: it is ${ended.status}`, {
      is: 'endedRun',
    })
  })
}

/** Looked up by account as well: another account's run must look as if it did not exist (404). */
async function liveRow(read: Read, accountId: string, id: string): Promise<EndingRow | undefined> {
  return await read
    .selectFrom('automation_live')
    .select(['id', 'step_id', 'history', 'started_at'])
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}
