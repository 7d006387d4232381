import { dayMs, isRecent, pause } from '../../clock/index.js'
import type { Tx } from '../../store/index.js'
import { changeState, liveTasks, removeTask, tasksBeyond, tasksEndedBy } from '../../tasks/index.js'
import { dropFile, filesKept } from './files.js'
import type { ImportTaskDeps } from './import-task.js'
import { dropPieces, dropShared, sharedFiles } from './shared.js'

const draftMs = dayMs
const pausedMs = 7 * dayMs
// The refused rows contain people's data.
const endedMs = 30 * dayMs
const mostEnded = 20
const perSweep = 20
const perWrite = 500
const restMs = 20

/** Deletes old drafts and, for an account that brings another file, its oldest ended imports. */
export async function dropDrafts(deps: ImportTaskDeps, accountId?: string): Promise<void> {
  const { store, clock } = deps
  const drafts = (await liveTasks(store.read, 'import')).filter(({ state }) => state === 'draft')
  const old = drafts.filter(({ begunAt }) => !isRecent(begunAt, clock.now(), draftMs))
  for (const { id } of old) {
    // Somebody may have begun the import meanwhile.
    if (await store.write((tx) => removeTask(tx, id, 'draft'))) await dropShared(deps, id)
  }
  if (accountId === undefined) return
  await dropEnded(deps, await tasksBeyond(store.read, accountId, mostEnded))
}

/** Cleans up what a kill has left, what has waited for too long, files without a task, and what ended long ago. */
export async function sweep(
  deps: ImportTaskDeps,
  { arriving, stop }: { arriving: ReadonlySet<number>; stop: AbortSignal },
): Promise<void> {
  const { store, clock, dataDir } = deps
  await dropDrafts(deps)
  // In this order: every existing file already has its task.
  const files = await filesKept(dataDir)
  const shared = await sharedFiles(store.read)
  const wanted = new Set<number>()
  for (const { id, accountId, state, begunAt, node } of await liveTasks(store.read, 'import')) {
    // Nobody here knows which files arrive at other nodes.
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

/** Deletes ended imports, with the rows that they refused. */
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

/** Deletes some of an import's refused rows; resolves with whether there may be more. */
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
