import { counted } from '../../amounts/index.js'
import { checkAdding, contactCeiling, readBilling } from '../../billing/index.js'
import { pause } from '../../clock/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import { ApiError } from '../../errors/index.js'
import { isPassing } from '../../store/index.js'
import { type AccountTask, changeState, findTask } from '../../tasks/index.js'
import type { ContactImportOptions } from '../import.js'
import { isThreadDeath } from '../importer.js'
import { readFile } from './files.js'
import { findImport, type ImportTask, type ImportTaskDeps } from './import-task.js'
import { bringFile, dropShared } from './shared.js'
import { undoSlice } from './undo.js'

const againMs = 10_000
const restMs = 20
const mostDeaths = 3

/** Works on tasks, each only once at a time, until they end or are not wanted now. */
export function makeRuns(deps: ImportTaskDeps) {
  const { store, clock, log } = deps
  const closing = new AbortController()
  const running = new Map<number, Promise<void>>()
  const deaths = new Map<number, { done: number; times: number }>()

  /** Starts the work on a task, unless it is under way. */
  const work = (task: ImportTask) => {
    if (running.has(task.id) || closing.signal.aborted) return
    const { signal } = closing
    const once =
      task.state === 'undoing' ? undoAll(deps, task, signal) : runImport(deps, task, signal)
    const run = once
      .catch(async (error) => {
        if (!(await isToComeAgain(task, error))) return
        // A task that was paused or stopped needs no rest.
        const { state } = await findImport(store.read, task.accountId, task.id)
        if (state === task.state) await pause(clock, againMs, signal)
      })
      .finally(() => running.delete(task.id))
      .then(() => takeUp(task))
      .catch((error) => log.error({ error, taskId: task.id }, 'An import waits for the next start'))
    running.set(task.id, run)
  }
  /** Starts the work on a task that is wanted; the file of a stopped one is deleted. */
  const takeUp = async ({ accountId, id }: Pick<AccountTask, 'accountId' | 'id'>) => {
    if (closing.signal.aborted) return
    const task = await findImport(store.read, accountId, id)
    if (task.state === 'running' || task.state === 'undoing') work(task)
    if (task.state === 'stopped') await dropShared(deps, id)
  }

  /** Whether the task has killed its thread several times at the same place. */
  const hasStoodStill = async ({ accountId, id }: ImportTask): Promise<boolean> => {
    const { done } = await findImport(store.read, accountId, id)
    const last = deaths.get(id)
    const times = last?.done === done ? last.times + 1 : 1
    deaths.set(id, { done, times })
    return times >= mostDeaths
  }

  /** A passing fault is tried again; any other ends the task, and says why. */
  const isToComeAgain = async (task: ImportTask, error: unknown): Promise<boolean> => {
    const isRefusal = error instanceof ApiError
    if (isThreadDeath(error) && (await hasStoodStill(task))) {
      await end(deps, task, 'failed', 'The file cannot be read: cut it into smaller ones')
      return false
    }
    if (isRefusal ? error.code === 'service_unavailable' : isPassing(error)) return true
    if (isRefusal && error.code === 'plan_limit_exceeded') {
      await waitForRoom(deps, task)
      return false
    }
    if (!isRefusal) log.error({ error, taskId: task.id }, 'An import has failed')
    const reason = isRefusal
      ? error.message
      : 'An error of the appliance; the operator finds it in the log'
    await end(deps, task, 'failed', reason)
    return false
  }
  return {
    takeUp,
    isUnderWay: (id: number) => running.has(id),
    async close() {
      closing.abort()
      await Promise.allSettled(running.values())
    },
  }
}

/** Runs an import from its present place to its end, or until it is no longer wanted. */
async function runImport(
  deps: ImportTaskDeps,
  { id, accountId, state, done, detail }: ImportTask,
  signal: AbortSignal,
) {
  const { order, filename } = detail
  if (state !== 'running' || order === undefined) return
  const { store, plans, importer, dataDir, defaultCountry, checkRoom } = deps
  const billing = await readBilling(store.read, plans, accountId)
  checkAdding(billing)
  const { listId, mapping, known, agreed, trigger, country = defaultCountry } = order
  const options: ContactImportOptions = {
    listId,
    ceiling: contactCeiling(plans, billing),
    file: filename,
    defaultCountry: country,
    trigger,
    mapping,
    described: await listContactFields(store.read, accountId),
    known,
    agreed,
    task: { id, after: done },
  }
  await bringFile(deps, id)
  const bytes = readFile(dataDir, id)
  try {
    const pieces = whileWanted(bytes, signal, trigger ? checkRoom : undefined)
    await importer.run(accountId, pieces, options)
  } finally {
    // An import that stops early leaves the file's stream open, so it is closed here.
    bytes.destroy()
  }
  await end(deps, { id, accountId, state }, 'done')
  deps.followed?.()
}

/**
 * The file, until the appliance stops or there is no room for what its rows start: the rest is read at the next start,
 * or a little later.
 */
async function* whileWanted(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  checkRoom?: () => Promise<void>,
) {
  for await (const piece of pieces) {
    if (signal.aborted) throw new ApiError('service_unavailable', 'The appliance stops')
    await checkRoom?.()
    yield piece
  }
}

/** Ends a task that is still in the state of its run; a task that was paused or stopped meanwhile stays so. */
async function end(
  deps: ImportTaskDeps,
  { id, accountId, state: before }: Pick<AccountTask, 'id' | 'accountId' | 'state'>,
  to: 'done' | 'failed',
  reason?: string,
): Promise<void> {
  const { store, clock } = deps
  const isOver = await store.write(async (tx) => {
    const { state, total, result } = await findTask(tx, accountId, id)
    if (state !== before) return state === 'stopped'
    const left = reason === undefined ? result : { ...result, reason }
    await changeState(
      tx,
      { id, accountId },
      { from: [state], to, result: left, endedAt: clock.now() },
    )
    if (to === 'done')
      await tx.updateTable('tasks').set({ done: total }).where('id', '=', id).execute()
    return true
  }, accountId)
  if (isOver) await dropShared(deps, id)
}

/** Pauses a task that has reached the plan's ceiling: its file stays, and somebody continues it once there is room. */
async function waitForRoom(
  { store, plans }: ImportTaskDeps,
  { id, accountId, state: before }: ImportTask,
): Promise<void> {
  const ceiling = contactCeiling(plans, await readBilling(store.read, plans, accountId))
  const allowed = ceiling === null ? '' : ` The plan allows ${counted(ceiling, 'contact')}.`
  const reason = `There is no room for more contacts.${allowed} Choose a larger marketing plan, or delete some, then go on`
  await store.write(async (tx) => {
    const { state, result } = await findTask(tx, accountId, id)
    if (state !== before) return
    const change = { from: [state], to: 'paused', result: { ...result, reason } } as const
    await changeState(tx, { id, accountId }, change)
  }, accountId)
}

/** Takes the people whom an import brought off the list, some at a time. */
async function undoAll(deps: ImportTaskDeps, task: ImportTask, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps
  const { importId } = task.result
  let cursor = ''
  while (importId !== undefined && task.detail.order !== undefined) {
    if (signal.aborted) return
    const place = {
      taskId: task.id,
      accountId: task.accountId,
      listId: task.detail.order.listId,
      importId,
      consentBefore: task.detail.consentBefore,
    }
    const next = await undoSlice({ store, clock }, place, cursor)
    if (next === undefined) break
    cursor = next
    await pause(clock, restMs, signal)
  }
  const { id, accountId } = task
  await store.write(
    (tx) =>
      changeState(tx, { id, accountId }, { from: ['undoing'], to: 'undone', endedAt: clock.now() }),
    accountId,
  )
}
