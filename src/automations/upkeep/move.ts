import type { UpdateResult } from 'kysely'
import { type Clock, pause } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { cell, prepared, type Read, rowsOf, type Store } from '../../store/index.js'
import {
  type Automation,
  appended,
  type CompiledStep,
  makeVersions,
  type StepDefinition,
  staysOn,
} from '../definition/index.js'
import { insertListens } from '../events/index.js'
import { historyJson, presentAtSteps, readHistory } from '../runs/index.js'

/** Runs of another version at one of its steps. */
export interface MoveGroup {
  version: number
  step: string
  type: string
  runs: number
  /** Why they stay where they are; null if they move. */
  stays: string | null
}

/** What moving runs needs. */
interface MoveDeps {
  store: Store
  clock: Clock
}

/** Which live runs would move to the version: those at a step that it has too. */
export async function planMove(
  read: Read,
  { id }: Pick<Automation, 'id'>,
  version: number,
): Promise<MoveGroup[]> {
  const targets = await targetsOf(read, id, version)
  const others = await read
    .selectFrom('automation_steps')
    .select(['id', 'version'])
    .where('automation_id', '=', id)
    .where('version', '!=', version)
    .orderBy('id')
    .execute()
  const present = await presentAtSteps(
    read,
    id,
    others.map((step) => step.id),
  )
  return others.flatMap(({ id: stepId, version: from }): MoveGroup[] => {
    const { key, type, stays } = targets.of(stepId)
    const runs = present.get(stepId)
    return runs === undefined ? [] : [{ version: from, step: key, type, runs, stays }]
  })
}

/** The newest version that was ever enabled; throws a 409 if none was. */
export async function newestVersion(
  read: Read,
  { id, name }: Pick<Automation, 'id' | 'name'>,
): Promise<number> {
  const { newest } = await read
    .selectFrom('automation_versions')
    .select((eb) => eb.fn.max('version').as('newest'))
    .where('automation_id', '=', id)
    .where('frozen_at', 'is not', null)
    .executeTakeFirstOrThrow()
  if (newest === null) {
    throw new ApiError('conflict', `“${name}” was never enabled, so nobody is in it`)
  }
  return newest
}

// Runs a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * Moves the live runs at a step whose key and type the version has too: they go on by its steps. Their
 * timers stay as they are. Resolves with how many have moved, which may be a few more than `most`.
 */
export async function moveRuns(
  { store, clock }: MoveDeps,
  { id }: Pick<Automation, 'id'>,
  version: number,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const targets = await targetsOf(store.read, id, version)
  let moved = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const slice = await store.write(async (tx) => {
      const rows = await liveAfter(tx, { id, after: from })
      const changes: unknown[][] = []
      for (const row of rows) {
        const { to, stays } = targets.of(row.step_id)
        if (row.version === version || to === undefined || stays !== null) continue
        const history = movedHistory(row, to.id, { targets, version, now: clock.now() })
        changes.push([row.id, to.id, history, row.contact_id])
      }
      await moveLive(tx, {
        json: JSON.stringify(changes),
        version,
        now: clock.now(),
        outlives: targets.outlives,
      })
      await listenAnew(tx, changes, targets.listens)
      return { last: rows.at(-1)?.id, full: rows.length === perWrite, moved: changes.length }
    })
    moved += slice.moved
    after = slice.full && moved < most ? slice.last : undefined
    if (after !== undefined) await pause(clock, restMs)
  }
  return moved
}

/**
 * A run's history with its steps by the new version's ids, so that conditions find their mails; a broken one stays as
 * it is.
 */
function movedHistory(
  { history, started_at }: MovedRow,
  stepId: number,
  { targets, version, now }: { targets: Targets; version: number; now: number },
): string {
  try {
    const before = readHistory(history, started_at).map((entry) => {
      return { ...entry, stepId: targets.of(entry.stepId).to?.id ?? entry.stepId }
    })
    const line = { stepId, at: now, result: `moved:v${version}` }
    return historyJson(appended(before, [line]), started_at)
  } catch {
    return history
  }
}

/** What becomes of the runs that stand at a step. */
interface Target {
  key: string
  type: string
  /** The step that stands for it, of the same key and type. */
  to: CompiledStep | undefined
  /** Why a run that is there stays; null if it moves. */
  stays: string | null
}

/** A version to which runs may move. */
interface Targets {
  listens: readonly string[]
  outlives: 0 | 1
  /** What becomes of a run at this step. */
  of(stepId: number): Target
}

/** Reads all versions of the automation, so that a write need not. */
async function targetsOf(read: Read, id: string, version: number): Promise<Targets> {
  const versions = makeVersions()
  const rows = await read
    .selectFrom('automation_versions')
    .select('version')
    .where('automation_id', '=', id)
    .where('frozen_at', 'is not', null)
    .execute()
  if (!rows.some((row) => row.version === version)) {
    const message = `There is no version ${version} that was ever enabled`
    throw new ApiError('validation_error', message, { status: 422 })
  }
  const target = await versions(read, id, version)
  const known = new Map<number, Target>()
  for (const row of rows) {
    const from = await versions(read, id, row.version)
    for (const { id: stepId, step } of from.compiled.byId.values()) {
      const same = target.compiled.byKey.get(step.key)
      const to = same?.step.type === step.type ? same : undefined
      const stays = staysFor(step, same?.step, version)
      known.set(stepId, { key: step.key, type: step.type, to, stays })
    }
  }
  return {
    listens: target.listens,
    outlives: staysOn(target.compiled, 'unsubscribed') ? 1 : 0,
    // A version that was frozen since then.
    of: (stepId) =>
      known.get(stepId) ?? { key: '-', type: '-', to: undefined, stays: 'it is newer' },
  }
}

/**
 * A run moves only where its step means the same in both versions; what it waits for is in its row
 * and would otherwise be forgotten.
 */
function staysFor(
  step: StepDefinition,
  to: StepDefinition | undefined,
  version: number,
): string | null {
  if (to === undefined) return `version ${version} has no step ${step.key}`
  if (to.type !== step.type) return `in version ${version} the step is a ${to.type}`
  // What it is parked on is of the row; an event that came before would not be heard.
  const isOtherEvent =
    step.type === 'wait_for_event' &&
    to.type === 'wait_for_event' &&
    step.config.eventName !== to.config.eventName
  return isOtherEvent ? `in version ${version} the step waits for another event` : null
}

/** What moving needs of a run. */
interface MovedRow {
  id: string
  version: number
  step_id: number
  contact_id: string
  history: string
  started_at: number
}

// A slice of the automation's runs, those of the version itself included: with them left out, a
// query could read through a million rows to fill a slice.
const liveAfter = prepared<{ id: string; after: string }, MovedRow>((db, { id, after }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'version', 'step_id', 'contact_id', 'history', 'started_at'])
    .where('automation_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(perWrite),
)

// Puts runs into the version. `seq` goes up, so that a step that the engine has planned by the old
// version is not written.
const moveLive = prepared<
  { json: string; version: number; outlives: 0 | 1; now: number },
  UpdateResult
>((db, { json, version, outlives, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      version,
      outlives,
      step_id: cell(1, 'integer'),
      history: cell(2, 'text'),
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell(0, 'text')),
)

/** Exit rules and the goal are those of the new version. */
async function listenAnew(
  tx: Read,
  changes: readonly unknown[][],
  names: readonly string[],
): Promise<void> {
  const runs = JSON.stringify(changes.map(([runId, , , contactId]) => [contactId, runId]))
  await forgetListens(tx, { json: runs })
  const rows = changes.flatMap(([runId, , , contactId]) =>
    names.map((name) => [contactId, name, runId]),
  )
  if (rows.length > 0) await insertListens(tx, { json: JSON.stringify(rows) })
}

const forgetListens = prepared<{ json: string }, unknown>((db, { json }) =>
  db
    .deleteFrom('automation_listens')
    // The key begins with the contact.
    .where('contact_id', 'in', (eb) => eb.selectFrom(rowsOf(json)).select(cell(0, 'text').as('c')))
    .where('run_id', 'in', (eb) => eb.selectFrom(rowsOf(json)).select(cell(1, 'text').as('r'))),
)
