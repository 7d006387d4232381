import type { UpdateResult } from 'kysely'
import { type Clock, pause } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { makeRunTally } from '../../runs/index.js'
import { cell, idsIn, idsOf, prepared, type Read, rowsOf, type Store } from '../../store/index.js'
import { type Automation, type AutomationDefinition, appended } from '../definition/index.js'
import { insertListens } from '../events/index.js'
import {
  findRunIds,
  historyJson,
  presentAtSteps,
  type RunsFilter,
  readHistory,
} from '../runs/index.js'
import { type Instead, type Targets, targetsOf, targetsOfDraft } from './move-targets.js'

/** Runs of another version at one of its steps. */
export interface MoveGroup {
  version: number
  step: string
  type: string
  runs: number
  /** Why they stay where they are; null if they move. */
  stays: string | null
  /** The key of the step that they begin in place of theirs; null if they stay, or go on at the same one. */
  begins: string | null
}

/** What moving runs needs. */
interface MoveDeps {
  store: Store
  clock: Clock
}

/**
 * Which live runs would move to the version: those at a step that it has too, and those to whom `instead` gives another
 * step.
 */
export async function planMove(
  read: Read,
  { id }: Pick<Automation, 'id'>,
  version: number,
  { instead = {}, only }: { instead?: Instead; only?: RunsFilter | undefined } = {},
): Promise<MoveGroup[]> {
  const targets = await targetsOf(read, id, version, instead)
  return await groupsOf(read, id, targets, { version, only })
}

/** The same for a draft, which would be the next version. */
export async function planMoveToDraft(
  read: Read,
  { id }: Pick<Automation, 'id'>,
  definition: AutomationDefinition,
): Promise<MoveGroup[]> {
  return await groupsOf(read, id, await targetsOfDraft(read, id, definition))
}

async function groupsOf(
  read: Read,
  id: string,
  targets: Targets,
  { version, only }: { version?: number; only?: RunsFilter | undefined } = {},
): Promise<MoveGroup[]> {
  const others = await read
    .selectFrom('automation_steps')
    .select(['id', 'version'])
    .where('automation_id', '=', id)
    .$if(version !== undefined, (query) => query.where('version', '!=', version ?? 0))
    .orderBy('id')
    .execute()
  const steps = others.map((step) => step.id)
  const meant =
    only?.stepIds === undefined ? steps : steps.filter((one) => only.stepIds?.includes(one))
  const present =
    only?.wait === undefined
      ? await presentAtSteps(read, id, meant)
      : await waitingAtSteps(read, id, only)
  return others.flatMap(({ id: stepId, version: from }): MoveGroup[] => {
    const { key, type, to, stays, isAnew } = targets.of(stepId)
    const runs = present.get(stepId)
    const begins = isAnew && to !== undefined ? to.step.key : null
    return runs === undefined ? [] : [{ version: from, step: key, type, runs, stays, begins }]
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
    const message = `“${name}” was never enabled, so nobody is in it`
    throw new ApiError('conflict', message, { is: 'neverOn', names: [name] })
  }
  return newest
}

// Runs a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * Moves the live runs at a step whose key and type the version has too: they go on by its steps. Their timers stay as
 * they are. Runs to which `instead` gives another step begin that step at once, as if they had just come to it.
 * Resolves with how many have moved, which may be a few more than `most`.
 */
export async function moveRuns(
  { store, clock }: MoveDeps,
  { id }: Pick<Automation, 'id'>,
  version: number,
  {
    most = Number.POSITIVE_INFINITY,
    instead = {},
    only,
  }: { most?: number; instead?: Instead; only?: RunsFilter | undefined } = {},
): Promise<number> {
  const targets = await targetsOf(store.read, id, version, instead)
  let moved = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const found = only && (await findThose(store.read, { id, after: from }, only))
    const slice = await store.write(async (tx) => {
      const rows = found
        ? await liveAmong(tx, id, found.ids)
        : await liveAfter(tx, { id, after: from })
      const now = clock.now()
      const tally = makeRunTally()
      const changes: Change[] = []
      const anew: string[] = []
      for (const row of rows) {
        const { to, stays, isAnew } = targets.of(row.step_id)
        if (row.version === version || to === undefined || stays !== null) continue
        const history = movedHistory(row, to.id, { targets, version, now })
        changes.push([row.id, to.id, history, row.contact_id])
        // Whoever stands at a step has come to it: figures of a version are of its own people.
        tally.step(to.id, 'entered')
        tally.step(to.id, 'moved_here')
        tally.step(row.step_id, 'moved_away')
        if (!isAnew) continue
        anew.push(row.id)
        if (row.status === 'running') continue
        tally.run(id, row.status, -1)
        tally.run(id, 'running', 1)
      }
      const json = JSON.stringify(changes)
      await moveLive(tx, { json, version, now, outlives: targets.outlives })
      if (anew.length > 0) await beginAnew(tx, { ids: JSON.stringify(anew), now })
      await listenAnew(tx, changes, targets.listens)
      await tally.write(tx)
      return { last: rows.at(-1)?.id, full: rows.length === perWrite, moved: changes.length }
    })
    moved += slice.moved
    const next = found ? found.next : slice.full ? slice.last : undefined
    after = moved < most ? next : undefined
    if (after !== undefined) await pause(clock, restMs)
  }
  return moved
}

/**
 * A run's history with its steps by the new version's ids, so that conditions find their mails; a broken history stays
 * as it is.
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

/** What moving needs of a run. */
interface MovedRow {
  id: string
  version: number
  step_id: number
  contact_id: string
  history: string
  started_at: number
  status: 'running' | 'waiting'
}

// A slice of the automation's runs, including those of the version itself: without these, a query could read through a
// million rows to fill a slice.
const liveAfter = prepared<{ id: string; after: string }, MovedRow>((db, { id, after }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'version', 'step_id', 'contact_id', 'history', 'started_at', 'status'])
    .where('automation_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(perWrite),
)

/** The next runs that fit; they are found from the newest on. */
const findThose = (read: Read, { id, after }: { id: string; after: string }, only: RunsFilter) =>
  findRunIds(read, id, only, { limit: perWrite, before: after === '' ? undefined : after })

const liveAmong = (tx: Read, id: string, ids: readonly string[]): Promise<MovedRow[]> =>
  tx
    .selectFrom('automation_live')
    .select(['id', 'version', 'step_id', 'contact_id', 'history', 'started_at', 'status'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('automation_id', '=', id)
    .execute()

// As many as a page counts.
const mostCounted = 10_000

/** How many of the runs that wait for a reason stand at each step, among the first so many of them. */
async function waitingAtSteps(
  read: Read,
  id: string,
  only: RunsFilter,
): Promise<ReadonlyMap<number, number>> {
  const present = new Map<number, number>()
  let before: string | undefined
  for (let counted = 0; counted < mostCounted; counted += perWrite) {
    const { ids, next } = await findRunIds(read, id, only, { limit: perWrite, before })
    for (const row of await liveAmong(read, id, ids)) {
      present.set(row.step_id, 1 + (present.get(row.step_id) ?? 0))
    }
    if (next === undefined) break
    before = next
  }
  return present
}

// Puts runs into the version. `seq` goes up, so that a step that the engine has planned by the old version is not
// written.
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

// The runs stand before their step, due now; a held run stays held until somebody lets it go on.
const beginAnew = prepared<{ ids: string; now: number }, UpdateResult>((db, { ids, now }) =>
  db
    .updateTable('automation_live')
    .set((eb) => ({
      status: 'running',
      due_at: eb.case().when('held_at', 'is', null).then(now).else(eb.ref('due_at')).end(),
      // Not `null`: PostgreSQL would take the time beside it for a text.
      held_due_at: eb
        .case()
        .when('held_at', 'is', null)
        .then(eb.ref('held_due_at'))
        .else(now)
        .end(),
      wait_event: null,
      entered_at: null,
      woken_by: null,
      blocked: null,
      attempts: 0,
    }))
    .where('id', 'in', idsOf(ids, 'text')),
)

/** A run, the step and the history that it gets, and whose it is. */
type Change = readonly [runId: string, stepId: number, history: string, contactId: string]

/** Makes the runs listen for the exit rules and the goal of the new version. */
async function listenAnew(
  tx: Read,
  changes: readonly Change[],
  names: readonly string[],
): Promise<void> {
  const runs = JSON.stringify(changes.map(([runId, , , contactId]) => [contactId, runId]))
  await forgetListens(tx, { json: runs })
  await insertListens(
    tx,
    changes.flatMap(([runId, , , contactId]) =>
      names.map((event) => ({ contact_id: contactId, event, run_id: runId })),
    ),
  )
}

const forgetListens = prepared<{ json: string }, unknown>((db, { json }) =>
  db
    .deleteFrom('automation_listens')
    // The key begins with the contact.
    .where('contact_id', 'in', (eb) => eb.selectFrom(rowsOf(json)).select(cell(0, 'text').as('c')))
    .where('run_id', 'in', (eb) => eb.selectFrom(rowsOf(json)).select(cell(1, 'text').as('r'))),
)
