import { checkOpen, type Plans, readBilling } from '../../billing/index.js'
import { isoTime } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Read, Tx } from '../../store/index.js'
import {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  liveTasks,
  makeStepRuns,
} from '../../tasks/index.js'
import { type AskFirst, wantConfirmation } from '../ask-first.js'
import type { ContactEffect } from '../contact.js'
import { countFitting } from '../fitting.js'
import type { ContactDeps } from '../list.js'
import { findContacts } from '../search.js'
import { newestOf, refuseOther, type SeenNumber } from '../seen-number.js'
import { askSlice, asksPerSlice } from './ask.js'
import { applyBulk, type BulkOrder, checkBulk } from './order.js'

/** What tasks with all matching contacts need. */
interface BulkDeps extends ContactDeps {
  plans: Plans
  log: Log
  /** The country of phone numbers without an international prefix; ISO 3166. */
  defaultCountry: string
  follow?: ContactEffect | undefined
  followed?: (() => void) | undefined
  /** Throws a 503 where automations have no room for more people. */
  checkRoom?: (() => Promise<void>) | undefined
  /** Throws a 503 while the appliance starts. */
  askFirst: AskFirst
}

/** A task with all matching contacts, as its pages see it. */
export interface BulkTask extends Omit<AccountTask, 'detail' | 'result'> {
  /** `through`: the newest contact when the task began. */
  detail: { order: BulkOrder; cursor?: string; through?: string }
  result: { changed?: number; reason?: string }
}

/** Long work with all matching contacts: it goes on after a restart, and can be paused and stopped. */
export interface BulkTasks {
  /**
   * Starts a task; resolves with its number. Throws a 422 where another number matches than was `seen`. `alongside` is
   * written in the same transaction.
   */
  begin(
    accountId: string,
    order: BulkOrder,
    startedBy: string,
    more?: { seen?: SeenNumber; alongside?: (tx: Tx, task: BulkTask) => Promise<unknown> },
  ): Promise<number>
  change(accountId: string, id: number, to: 'paused' | 'running' | 'stopped'): Promise<BulkTask>
  resume(): Promise<boolean>
  close(): Promise<void>
}

// How many contacts one transaction changes: that takes some milliseconds, for which other writes wait.
const perSlice = 100

/** Throws a 404 unless the account has it. */
export async function findBulk(read: Read, accountId: string, id: number): Promise<BulkTask> {
  const task = await findTask(read, accountId, id)
  if (task.kind !== 'bulk') throw new ApiError('not_found', 'The account has no such task')
  return task as unknown as BulkTask
}

export function makeBulkTasks(deps: BulkDeps): BulkTasks {
  const { store, clock } = deps
  const runs = makeStepRuns(deps, 'bulk', (task) => slice(deps, task as unknown as BulkTask))
  return {
    async begin(accountId, given, startedBy, { seen, alongside } = {}) {
      await checkBulk(store.read, accountId, given)
      const isJoining = given.do === 'add'
      const order = isJoining
        ? { ...given, confirm: given.confirm ?? (await asksFirst(store.read, accountId, given)) }
        : given
      if (isJoining) checkOpen(await readBilling(store.read, deps.plans, accountId))
      if (isJoining && order.trigger) await deps.checkRoom?.()
      const whose = [store.read, accountId, order.search, deps.defaultCountry] as const
      if (seen !== undefined) await refuseOther(...whose, seen)
      const { count } = seen ?? (await countFitting(...whose))
      const id = await store.write(async (tx) => {
        await refuseMany(tx, accountId)
        const made = { accountId, kind: 'bulk', state: 'running', total: count } as const
        const newest = await newestOf(tx, accountId)
        const through = seen !== undefined && seen.through < newest ? seen.through : newest
        const detail = { order, through }
        const id = await createTask(tx, { ...made, detail, startedBy }, clock.now())
        await alongside?.(tx, await findBulk(tx, accountId, id))
        return id
      }, accountId)
      runs.takeUp({ id, accountId })
      return id
    },
    async change(accountId, id, to) {
      const from = to === 'paused' ? (['running'] as const) : (['running', 'paused'] as const)
      const endedAt = to === 'stopped' ? clock.now() : null
      await findBulk(store.read, accountId, id)
      await store.write(
        (tx) => changeState(tx, { id, accountId }, { from, to, endedAt }),
        accountId,
      )
      if (to === 'running') runs.takeUp({ id, accountId })
      return await findBulk(store.read, accountId, id)
    },
    resume: runs.resume,
    close: runs.close,
  }
}

const asksFirst = (read: Read, accountId: string, { target = '' }: BulkOrder) =>
  wantConfirmation(read, accountId, [target])

// How many of one account may be live; they take turns, and a double click starts no second one.
const mostLive = 10

/** Throws a 409 where an account has as many as it may. */
async function refuseMany(read: Read, accountId: string): Promise<void> {
  const live = await liveTasks(read, 'bulk')
  if (live.filter((one) => one.accountId === accountId).length < mostLive) return
  const message = 'Ten tasks with contacts are under way: wait for one, or stop it'
  throw new ApiError('conflict', message)
}

/**
 * Works on the next matching contacts; resolves with whether they were the last, or `later` where no more may be asked
 * now. Contacts who came after the task began are left alone.
 */
async function slice(deps: BulkDeps, task: BulkTask): Promise<boolean | 'later'> {
  const { store, clock, defaultCountry, follow } = deps
  const { id, accountId, begunAt } = task
  const { order, cursor, through } = task.detail
  if (order.do === 'add' && order.trigger) await deps.checkRoom?.()
  const isAsking = order.confirm === true
  const options = { limit: isAsking ? asksPerSlice : perSlice, cursor, defaultCountry }
  const { members, nextCursor } = await findContacts(store.read, accountId, order.search, options)
  const wasThere = ({ id, createdAt }: { id: string; createdAt: number }) =>
    through === undefined ? createdAt <= begunAt : id <= through
  const ids = members.filter(wasThere).map(({ id }) => id)
  // Mails are accepted in writes of their own. Somebody who is looked at again is not asked again.
  const { asked, isFull } = isAsking
    ? await askSlice(deps, accountId, order, ids)
    : { asked: undefined, isFull: false }
  const isOver = await store.write(async (tx) => {
    const now = await findBulk(tx, accountId, id)
    // The task was paused or stopped meanwhile, or somebody else has done this slice.
    if (now.state !== 'running' || now.detail.cursor !== cursor) return false
    const changed =
      asked ?? (await applyBulk(tx, accountId, order, { ids, now: clock.now(), follow }))
    const result = { ...now.result, changed: (now.result.changed ?? 0) + changed }
    const counted = JSON.stringify(result)
    if (isFull) {
      await tx.updateTable('tasks').set({ result: counted }).where('id', '=', id).execute()
      return 'later'
    }
    const done = now.done + ids.length
    await tx
      .updateTable('tasks')
      .set({
        done,
        total: Math.max(done, now.total),
        detail: JSON.stringify({
          order,
          through,
          ...(nextCursor !== null && { cursor: nextCursor }),
        }),
        result: counted,
        // The last slice also ends the task: after a kill nothing begins anew.
        ...(nextCursor === null && { state: 'done', total: done, ended_at: clock.now() }),
      })
      .where('id', '=', id)
      .execute()
    return nextCursor === null
  }, accountId)
  if (order.trigger && !isAsking) deps.followed?.()
  return isOver
}

/** As the API shows it. */
export const shownBulk = ({
  id,
  state,
  done,
  total,
  begunAt,
  endedAt,
  detail,
  result,
}: BulkTask) => ({
  id: String(id),
  do: detail.order.do,
  state,
  done,
  total,
  changed: result.changed ?? 0,
  reason: result.reason ?? null,
  begunAt: isoTime(begunAt),
  endedAt: isoTime(endedAt),
})
