import { dayMs, isRecent, pause } from '../../clock/index.js'
import type { Tx } from '../../store/index.js'
import { changeState, liveTasks, removeTask, tasksBeyond, tasksEndedBy } from '../../tasks/index.js'
import { dropFile, filesKept } from './files.js'
import type { ImportTaskDeps } from './import-task.js'
import { dropPieces, dropShared, sharedFiles } from './shared.js'

const draftMs = dayMs
const pausedMs = 7 * dayMs
// Rows of people stand in what was refused.
const endedMs = 30 * dayMs
const mostEnded = 20
const perSweep = 20
const perWrite = 500
const restMs = 20

/** Takes away drafts that are old, and of an account that brings another file its old imports. */
export async function dropDrafts(deps: ImportTaskDeps, accountId?: string): Promise<void> {
  const { store, clock } = deps
  const drafts = (await liveTasks(store.read, 'import')).filter(({ state }) => state === 'draft')
  const old = drafts.filter(({ begunAt }) => !isRecent(begunAt, clock.now(), draftMs))
  for (const { id } of old) {
    // Somebody may have begun it meanwhile.
    if (await store.write((tx) => removeTask(tx, id, 'draft'))) await dropShared(deps, id)
  }
  if (accountId === undefined) return
  await dropEnded(deps, await tasksBeyond(store.read, accountId, mostEnded))
}

/** What a kill has left, what has waited for too long, files of nothing, and what ended long ago. */
export async function sweep(
  deps: ImportTaskDeps,
  { arriving, stop }: { arriving: ReadonlySet<number>; stop: AbortSignal },
): Promise<void> {
  const { store, clock, dataDir } = deps
  await dropDrafts(deps)
  // In this order: a file that is there has its task already.
  const files = await filesKept(dataDir)
  const shared = await sharedFiles(store.read)
  const wanted = new Set<number>()
  for (const { id, accountId, state, begunAt, node } of await liveTasks(store.read, 'import')) {
    // Of others nobody here knows what arrives.
    const isCutOff = state === 'arriving' && node === store.node.number && !arriving.has(id)
    if (isCutOff && (await store.write((tx) => removeTask(tx, id, 'arriving')))) continue
    wanted.add(id)
    if (state !== 'paused' || isRecent(begunAt, clock.now(), pausedMs)) continue
    const change = { from: ['paused'], to: 'stopped', endedAt: clock.now() } as const
    await store.write((tx) => changeState(tx, { id, accountId }, change))
    await dropShared(deps, id)
  }
  for (const id of files) if (!wanted.has(id)) await dropFile(dataDir, id)
  for (const id of shared) if (!wanted.has(id)) await dropPieces(deps, id)
  await dropEnded(deps, await tasksEndedBy(store.read, clock.now() - endedMs, perSweep), stop)
}

/** Takes away imports that have ended, with the rows that they refused. */
async function dropEnded(
  { store, clock }: ImportTaskDeps,
  ids: readonly number[],
  stop?: AbortSignal,
): Promise<void> {
  for (const id of ids) {
    while (await store.write((tx) => dropRefusals(tx, id))) {
      if (stop?.aborted) return
      await pause(clock, restMs, stop)
    }
    await store.write((tx) => removeTask(tx, id))
  }
}

/** Some of what an import has refused; resolves with whether there may be more. */
async function dropRefusals(tx: Tx, taskId: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('import_refusals')
    .select('line')
    .where('task_id', '=', taskId)
    .orderBy('line')
    .limit(perWrite)
    .execute()
  const last = rows.at(-1)
  if (last === undefined) return false
  await tx
    .deleteFrom('import_refusals')
    .where('task_id', '=', taskId)
    .where('line', '<=', last.line)
    .execute()
  return rows.length === perWrite
}
