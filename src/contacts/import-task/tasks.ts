import { checkAdding, readBilling } from '../../billing/index.js'
import { lastConsentId } from '../../consent/index.js'
import { ApiError } from '../../errors/index.js'
import { nodeNames } from '../../nodes/index.js'
import type { Read } from '../../store/index.js'
import {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  liveTasks,
  removeTask,
} from '../../tasks/index.js'
import { requireList } from '../list.js'
import { columnsOf, type Mapping } from '../mapping.js'
import { type Glance, glanceAt, keepFile } from './files.js'
import {
  type ImportDetail,
  type ImportOrder,
  type ImportTask,
  type ImportTaskDeps,
  isUndoable,
} from './import-task.js'
import { makeRuns } from './runs.js'
import { adoptImports, bringFile, dropShared, shareFile } from './shared.js'
import { dropDrafts, sweep } from './sweep.js'

/** Imports of uploaded files: they go on after a restart, and can be paused, stopped and undone. */
export interface ImportTasks {
  /** ISO 3166-1: the country of phone numbers that name none. */
  readonly defaultCountry: string
  /** Stores a file and answers with the draft's number. Throws a 422 or a 415 for a file that cannot be read. */
  keep(
    accountId: string,
    file: { filename: string; pieces: AsyncIterable<Uint8Array>; startedBy: string },
  ): Promise<number>
  /** The first rows of a draft's file. */
  glance(task: ImportTask, as?: Parameters<typeof glanceAt>[3]): Promise<Glance>
  /**
   * Throws a 422 for impossible columns, a 409 while another import of the account runs, and whatever billing refuses.
   */
  check(accountId: string, id: number, mapping: Mapping): Promise<void>
  /** Removes the file of a draft, which nobody wants to import. */
  drop(accountId: string, id: number): Promise<void>
  /** Starts a checked import. */
  begin(accountId: string, id: number, order: ImportOrder): Promise<void>
  change(accountId: string, id: number, to: 'paused' | 'running' | 'stopped'): Promise<void>
  /** Takes the people whom it brought off the list again; possible for seven days. */
  undo(accountId: string, id: number): Promise<void>
  /** Continues what a stop or a kill has left, and deletes what is too old. */
  resume(stop: AbortSignal): Promise<boolean>
  /** Takes over the imports of a node that is gone whose files are in the database. */
  adopt(node: number): Promise<void>
  /** Resolves when nothing is under way; called after the importer has been told to close. */
  close(): Promise<void>
}

// For one account: how many files may arrive at the same time, and how much may wait in all.
const mostArriving = 3
const mostWaiting = 20
const mostWaitingBytes = 512 * 1024 * 1024

export function makeImportTasks(deps: ImportTaskDeps): ImportTasks {
  const { store, clock, dataDir } = deps
  const runs = makeRuns(deps)
  // The appliance that took the file works on it; its own look finds what others have changed.
  const takeUp = async (task: Pick<AccountTask, 'id' | 'accountId' | 'node'>) => {
    if (task.node === store.node.number) await runs.takeUp(task)
  }
  /** The files that arrive in this process: one that a kill cut off is no draft. */
  const arriving = new Set<number>()
  return {
    defaultCountry: deps.defaultCountry,
    async keep(accountId, { filename, pieces, startedBy }) {
      checkAdding(await readBilling(store.read, deps.plans, accountId))
      await dropDrafts(deps, accountId)
      await refuseMany(store.read, accountId)
      const detail: ImportDetail = { filename, bytes: 0, lines: 0, isUtf8: true }
      const task = { accountId, kind: 'import', total: 0, startedBy } as const
      const id = await store.write(async (tx) => {
        const made = { ...task, state: 'arriving', detail: { ...detail } } as const
        return createTask(tx, made, clock.now())
      })
      arriving.add(id)
      try {
        const kept = await keepFile(dataDir, id, pieces)
        // Asked while the form is there to be filled in anew: a draft that no page can show helps nobody.
        await glanceAt(dataDir, id, kept)
        if (deps.sharesFiles) await shareFile(deps, id, kept)
        const change = { from: ['arriving'], to: 'draft', total: kept.lines } as const
        const whole = { filename, ...kept }
        await store.write((tx) => changeState(tx, { id, accountId }, { ...change, detail: whole }))
        return id
      } catch (error) {
        await store.write((tx) => removeTask(tx, id, 'arriving'))
        await dropShared(deps, id)
        throw error
      } finally {
        arriving.delete(id)
      }
    },
    async glance({ id, detail, node }, as) {
      if (!(await bringFile(deps, id))) throw await isElsewhere(store.read, node)
      return await glanceAt(dataDir, id, detail, as)
    },
    async check(accountId, id, mapping) {
      const mapped = columnsOf(mapping.columns)
      if (typeof mapped === 'string')
        throw new ApiError('validation_error', mapped, { status: 422 })
      checkAdding(await readBilling(store.read, deps.plans, accountId))
      const { state } = await findTask(store.read, accountId, id)
      if (state !== 'draft') throw new ApiError('conflict', `The import is ${state} already`)
      await refuseSecond(store.read, accountId)
    },
    async drop(accountId, id) {
      const { state } = await findTask(store.read, accountId, id)
      if (!(await store.write((tx) => removeTask(tx, id, 'draft'), accountId))) {
        throw new ApiError('conflict', `The import is ${state} already`)
      }
      await dropShared(deps, id)
    },
    async begin(accountId, id, order) {
      const task = await store.write(async (tx) => {
        await requireList(tx, accountId, order.listId)
        await refuseSecond(tx, accountId)
        const { detail } = await findTask(tx, accountId, id)
        const consentBefore = await lastConsentId(tx)
        return await changeState(
          tx,
          { id, accountId },
          {
            from: ['draft'],
            to: 'running',
            begunAt: clock.now(),
            detail: { ...detail, order, consentBefore },
          },
        )
      }, accountId)
      await takeUp(task)
    },
    async change(accountId, id, to) {
      const from =
        to === 'paused'
          ? (['running'] as const)
          : to === 'running'
            ? (['paused'] as const)
            : (['running', 'paused'] as const)
      if (to === 'running') checkAdding(await readBilling(store.read, deps.plans, accountId))
      const endedAt = to === 'stopped' ? clock.now() : null
      const task = await store.write(async (tx) => {
        // The reason why it paused itself no longer holds, whatever happens now.
        const result = { ...(await findTask(tx, accountId, id)).result, reason: undefined }
        return await changeState(tx, { id, accountId }, { from, to, result, endedAt })
      }, accountId)
      if (to === 'stopped' && !runs.isUnderWay(id)) await dropShared(deps, id)
      if (to === 'running') await takeUp(task)
    },
    async undo(accountId, id) {
      const found = await findTask(store.read, accountId, id)
      if (!isUndoable(found, clock.now())) {
        throw new ApiError('conflict', 'An import can be undone for seven days after it has ended')
      }
      const task = await store.write(
        (tx) => changeState(tx, found, { from: [found.state], to: 'undoing', endedAt: null }),
        accountId,
      )
      await takeUp(task)
    },
    async resume(stop) {
      await sweep(deps, { arriving, stop })
      const live = await liveTasks(store.read, 'import')
      for (const task of live) await takeUp(task)
      return live.length > 0
    },
    async adopt(node) {
      if ((await adoptImports(store, node)) === 0) return
      for (const task of await liveTasks(store.read, 'import')) await takeUp(task)
    },
    close: runs.close,
  }
}

async function isElsewhere(read: Read, number: number): Promise<ApiError> {
  const name = (await nodeNames(read)).get(number) ?? `node ${number}`
  return new ApiError(
    'conflict',
    `The file is so long that it lies on ${name} alone, where it was taken in: open this page there, or upload it in smaller pieces`,
  )
}

/** One import of an account runs at a time. */
async function refuseSecond(read: Read, accountId: string): Promise<void> {
  const live = await liveTasks(read, 'import')
  const others = live.filter((one) => one.accountId === accountId)
  if (!others.some(({ state }) => state === 'running' || state === 'paused')) return
  const message = 'Another import of the account is under way: wait for it, or stop it'
  throw new ApiError('conflict', message)
}

/** Throws a 409 where too much of an account waits already. */
async function refuseMany(read: Read, accountId: string): Promise<void> {
  const own = (await liveTasks(read, 'import')).filter((one) => one.accountId === accountId)
  const bytes = own.reduce((sum, { detail }) => sum + Number(detail.bytes), 0)
  const isMuch = own.filter(({ state }) => state === 'arriving').length >= mostArriving
  if (!isMuch && own.length < mostWaiting && bytes < mostWaitingBytes) return
  const message =
    'Other files of the account wait to be imported: import or remove one of them first. What has waited for a day goes by itself'
  throw new ApiError('conflict', message)
}
