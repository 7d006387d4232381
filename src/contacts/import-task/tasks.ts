import { checkAdding, contactCeiling, type Plans, readBilling } from '../../billing/index.js'
import { dayMs, isRecent, pause } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import { isPassing, type Read, type Tx } from '../../store/index.js'
import {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  liveTasks,
  removeTask,
  tasksEndedBy,
} from '../../tasks/index.js'
import type { KnownPolicy } from '../bulk.js'
import type { ContactImportOptions } from '../import.js'
import type { Importer } from '../importer.js'
import { type ContactDeps, requireList } from '../list.js'
import { columnsOf, type Mapping } from '../mapping.js'
import {
  dropFile,
  filesKept,
  type Glance,
  glanceAt,
  type KeptFile,
  keepFile,
  readFile,
} from './files.js'
import type { ImportResult } from './progress.js'
import { undoSlice } from './undo.js'

/** What imports that are tasks need. */
export interface ImportTaskDeps extends ContactDeps {
  plans: Plans
  importer: Importer
  dataDir: string
  /** The country of phone numbers without an international prefix; ISO 3166. */
  defaultCountry: string
  log: Log
  /** Called once people are in, for what follows from it. */
  followed?: () => void
  /** Throws a 503 where automations have no room for more people. */
  checkRoom: () => Promise<void>
}

/** What somebody says of a file before it is imported. */
export interface ImportOrder {
  listId: string
  mapping: Mapping
  known: KnownPolicy
  /** How its people agreed to get mail. */
  agreed: string
  /** Whether automations start for them. */
  trigger: boolean
}

/** What an import's task keeps in `detail`. */
export interface ImportDetail extends KeptFile {
  filename: string
  order?: ImportOrder
}

/** An import as its pages see it. */
export interface ImportTask extends Omit<AccountTask, 'detail' | 'result'> {
  detail: ImportDetail
  result: Partial<ImportResult>
}

/** Imports of files that people upload: they go on after a restart, and can be paused, stopped and undone. */
export interface ImportTasks {
  /** Takes a file in and answers with the draft's number. */
  keep(
    accountId: string,
    file: { filename: string; pieces: AsyncIterable<Uint8Array>; startedBy: string },
  ): Promise<number>
  /** The first rows of a draft's file. */
  glance(task: ImportTask, as?: Parameters<typeof glanceAt>[3]): Promise<Glance>
  /** Throws a 422 for columns that cannot be so, a 409 while another one of the account runs, and what billing says. */
  check(accountId: string, id: number, mapping: Mapping): Promise<void>
  /** Starts what was checked. */
  begin(accountId: string, id: number, order: ImportOrder): Promise<void>
  change(accountId: string, id: number, to: 'paused' | 'running' | 'stopped'): Promise<void>
  /** Takes off the list again whom it brought; possible for seven days. */
  undo(accountId: string, id: number): Promise<void>
  /** Takes up what a stop or a kill has left. */
  resume(): Promise<void>
  /** Resolves when nothing is under way; call it after the importer has been told to close. */
  close(): Promise<void>
}

const undoableMs = 7 * dayMs
const draftMs = dayMs
// Rows of people stand in what was refused.
const endedMs = 30 * dayMs
const perSweep = 20
const perWrite = 500
const mostDrafts = 3
const againMs = 10_000
const restMs = 20

/** Throws a 404 unless the account has it. */
export const findImport = async (read: Read, accountId: string, id: number): Promise<ImportTask> =>
  (await findTask(read, accountId, id)) as unknown as ImportTask

/** Whether an import can be undone at a time. */
export const isUndoable = (
  { state, begunAt }: Pick<AccountTask, 'state' | 'begunAt'>,
  now: number,
) => ['done', 'stopped', 'failed'].includes(state) && isRecent(begunAt, now, undoableMs)

/** Works at tasks, each once, until they have ended or are not wanted at present. */
function makeRuns(deps: ImportTaskDeps) {
  const { store, clock, dataDir, log } = deps
  const closing = new AbortController()
  const running = new Map<number, Promise<void>>()

  /** Has a task worked at, unless it is. */
  const work = (task: ImportTask) => {
    if (running.has(task.id) || closing.signal.aborted) return
    const { signal } = closing
    const once =
      task.state === 'undoing' ? undoAll(deps, task, signal) : runImport(deps, task, signal)
    const run = once
      .catch(async (error) => {
        if (!(await isToComeAgain(task, error))) return
        // One that was paused or stopped needs no rest.
        const { state } = await findImport(store.read, task.accountId, task.id)
        if (state === task.state) await pause(clock, againMs, signal)
      })
      .finally(() => running.delete(task.id))
      .then(() => takeUp(task))
      .catch((error) => log.error({ error, taskId: task.id }, 'An import waits for the next start'))
    running.set(task.id, run)
  }
  /** Has a task worked at that somebody wants; of one that was stopped meanwhile the file goes. */
  const takeUp = async ({ accountId, id }: Pick<AccountTask, 'accountId' | 'id'>) => {
    if (closing.signal.aborted) return
    const task = await findImport(store.read, accountId, id)
    if (task.state === 'running' || task.state === 'undoing') work(task)
    if (task.state === 'stopped') await dropFile(dataDir, id)
  }

  /** What passes by itself is tried again; anything else ends the task, and says why. */
  const isToComeAgain = async (task: ImportTask, error: unknown): Promise<boolean> => {
    const isRefusal = error instanceof ApiError
    if (isRefusal ? error.code === 'service_unavailable' : isPassing(error)) return true
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

export function makeImportTasks(deps: ImportTaskDeps): ImportTasks {
  const { store, clock, dataDir } = deps
  const runs = makeRuns(deps)
  return {
    async keep(accountId, { filename, pieces, startedBy }) {
      checkAdding(await readBilling(store.read, deps.plans, accountId))
      await dropDrafts(deps, accountId)
      const detail = { filename, bytes: 0, lines: 0, isUtf8: true }
      const draft = {
        accountId,
        kind: 'import',
        state: 'draft',
        total: 0,
        detail,
        startedBy,
      } as const
      const id = await store.write((tx) => createTask(tx, draft, clock.now()))
      try {
        const kept = await keepFile(dataDir, id, pieces)
        await store.write((tx) =>
          changeState(
            tx,
            { id, accountId },
            {
              from: ['draft'],
              to: 'draft',
              total: kept.lines,
              detail: { filename, ...kept },
            },
          ),
        )
        return id
      } catch (error) {
        await store.write((tx) => removeTask(tx, id))
        throw error
      }
    },
    glance: ({ id, detail }, as) => glanceAt(dataDir, id, detail, as),
    async check(accountId, id, mapping) {
      const mapped = columnsOf(mapping.columns)
      if (typeof mapped === 'string')
        throw new ApiError('validation_error', mapped, { status: 422 })
      checkAdding(await readBilling(store.read, deps.plans, accountId))
      const { state } = await findTask(store.read, accountId, id)
      if (state !== 'draft') throw new ApiError('conflict', 'The import has begun already')
      await refuseSecond(store.read, accountId)
    },
    async begin(accountId, id, order) {
      const task = await store.write(async (tx) => {
        await requireList(tx, accountId, order.listId)
        await refuseSecond(tx, accountId)
        const { detail } = await findTask(tx, accountId, id)
        return await changeState(
          tx,
          { id, accountId },
          {
            from: ['draft'],
            to: 'running',
            detail: { ...detail, order },
          },
        )
      })
      await runs.takeUp(task)
    },
    async change(accountId, id, to) {
      const from =
        to === 'paused'
          ? (['running'] as const)
          : to === 'running'
            ? (['paused'] as const)
            : (['running', 'paused'] as const)
      const endedAt = to === 'stopped' ? clock.now() : null
      await store.write((tx) => changeState(tx, { id, accountId }, { from, to, endedAt }))
      if (to === 'stopped' && !runs.isUnderWay(id)) await dropFile(dataDir, id)
      if (to === 'running') await runs.takeUp({ id, accountId })
    },
    async undo(accountId, id) {
      const found = await findTask(store.read, accountId, id)
      if (!isUndoable(found, clock.now())) {
        throw new ApiError(
          'conflict',
          'An import can be undone for seven days after it has begun, once it has ended',
        )
      }
      const task = await store.write((tx) =>
        changeState(tx, found, { from: [found.state], to: 'undoing', endedAt: null }),
      )
      await runs.takeUp(task)
    },
    async resume() {
      await dropDrafts(deps)
      await dropEnded(deps)
      // In this order: a file that is there has its task already.
      const files = await filesKept(dataDir)
      const live = await liveTasks(store.read)
      const wanted = new Set(live.map(({ id }) => id))
      for (const id of files) if (!wanted.has(id)) await dropFile(dataDir, id)
      for (const task of live) await runs.takeUp(task)
    },
    close: runs.close,
  }
}

/** One import of an account runs at a time. */
async function refuseSecond(read: Read, accountId: string): Promise<void> {
  const live = await liveTasks(read)
  if (!live.some((one) => one.accountId === accountId && one.state === 'running')) return
  const message = 'Another import of the account is running: wait for it, or stop it'
  throw new ApiError('conflict', message)
}

/** Runs an import from where it is to its end, or until it is not wanted any more. */
async function runImport(
  deps: ImportTaskDeps,
  { id, accountId, state, done, detail }: ImportTask,
  signal: AbortSignal,
) {
  const { order, filename } = detail
  if (state !== 'running' || order === undefined) return
  const { store, plans, importer, dataDir, defaultCountry, checkRoom } = deps
  const billing = await readBilling(store.read, plans, accountId)
  const { listId, mapping, known, agreed, trigger } = order
  const options: ContactImportOptions = {
    listId,
    ceiling: contactCeiling(plans, billing),
    file: filename,
    defaultCountry,
    trigger,
    mapping,
    known,
    agreed,
    task: { id, after: done },
  }
  await importer.run(
    accountId,
    whileWanted(readFile(dataDir, id), signal, trigger ? checkRoom : undefined),
    options,
  )
  await end(deps, { id, accountId }, 'done')
  deps.followed?.()
}

/**
 * The file, as long as the appliance does not stop and there is room for what it starts: what is left of it is read at
 * the next start, or a little later.
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

/** Ends a task that is still running; of one that was paused or stopped meanwhile the state stays. */
async function end(
  { store, clock, dataDir }: ImportTaskDeps,
  { id, accountId }: Pick<AccountTask, 'id' | 'accountId'>,
  to: 'done' | 'failed',
  reason?: string,
): Promise<void> {
  const isOver = await store.write(async (tx) => {
    const { state, total, result } = await findTask(tx, accountId, id)
    if (state !== 'running' && state !== 'undoing') return state === 'stopped'
    const left = reason === undefined ? result : { ...result, reason }
    await changeState(
      tx,
      { id, accountId },
      { from: [state], to, result: left, endedAt: clock.now() },
    )
    if (to === 'done')
      await tx.updateTable('tasks').set({ done: total }).where('id', '=', id).execute()
    return true
  })
  if (isOver) await dropFile(dataDir, id)
}

/** Takes off the list whom an import brought, some at a time. */
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
    }
    const next = await undoSlice({ store, clock }, place, cursor)
    if (next === undefined) break
    cursor = next
    await pause(clock, restMs, signal)
  }
  const { id, accountId } = task
  await store.write((tx) =>
    changeState(tx, { id, accountId }, { from: ['undoing'], to: 'undone', endedAt: clock.now() }),
  )
}

/** Takes away drafts that are old, and of an account that brings another one all but the newest. */
async function dropDrafts(
  { store, clock, dataDir }: ImportTaskDeps,
  accountId?: string,
): Promise<void> {
  const drafts = (await liveTasks(store.read)).filter(({ state }) => state === 'draft')
  const own = drafts.filter((one) => one.accountId === accountId)
  const tooMany = own.slice(0, Math.max(0, own.length - mostDrafts + 1))
  const old = drafts.filter(({ begunAt }) => !isRecent(begunAt, clock.now(), draftMs))
  for (const { id } of new Set([...old, ...tooMany])) {
    await store.write((tx) => removeTask(tx, id))
    await dropFile(dataDir, id)
  }
}

/** Takes away imports that have ended long ago, with the rows that they refused. */
async function dropEnded({ store, clock }: ImportTaskDeps): Promise<void> {
  for (const id of await tasksEndedBy(store.read, clock.now() - endedMs, perSweep)) {
    while (await store.write((tx) => dropRefusals(tx, id)));
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
