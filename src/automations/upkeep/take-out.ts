import type { Clock } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import { firstUuidAt, idsIn, type Read, type Store, type Tx } from '../../store/index.js'
import {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  listTasks,
  liveTasks,
  makeStepRuns,
} from '../../tasks/index.js'
import { type Automation, cancelRows } from '../definition/index.js'
import { blockedReason, countLive, findRunIds, type RunsFilter } from '../runs/index.js'

interface TakeOutDeps {
  store: Store
  clock: Clock
  log: Log
}

/** Taking people out of an automation, as its pages see it. */
export interface TakeOutTask extends Omit<AccountTask, 'detail' | 'result'> {
  detail: {
    automationId: string
    name: string
    /** Whom it is about, in words. */
    says: string
    filter: RunsFilter
    /** Runs older than this one are still to be looked at; at first an id that no run had when the task began. */
    before: string
  }
  result: { reason?: string }
}

/** Whom it is about, who asked for it, and why their runs end. */
interface TakeOutOrder {
  filter: RunsFilter
  says: string
  startedBy: string
}

/** Taking out all runs that fit: long work that goes on after a restart, and can be paused and stopped. */
export interface TakeOuts {
  /** `alongside` is written with it. */
  begin(
    automation: Pick<Automation, 'id' | 'name' | 'account_id' | 'running' | 'waiting'>,
    order: TakeOutOrder,
    alongside?: (tx: Tx, task: TakeOutTask) => Promise<unknown>,
  ): Promise<TakeOutTask>
  change(accountId: string, id: number, to: 'paused' | 'running' | 'stopped'): Promise<TakeOutTask>
  resume(): Promise<boolean>
  close(): Promise<void>
}

// Runs in a transaction, for which other writes wait.
const perSlice = 200
// Tasks of one account; each takes its turn, and a double click is no second one.
const mostLive = 10
const kind = 'runs'

export function makeTakeOuts(deps: TakeOutDeps): TakeOuts {
  const { store, clock } = deps
  const runs = makeStepRuns(deps, kind, (task) => slice(deps, task as unknown as TakeOutTask))
  return {
    async begin(...given) {
      const task = await orderTakeOut(deps, ...given)
      runs.takeUp(task)
      return task
    },
    async change(accountId, id, to) {
      const from = to === 'paused' ? (['running'] as const) : (['running', 'paused'] as const)
      const endedAt = to === 'stopped' ? clock.now() : null
      await findTakeOut(store.read, accountId, id)
      await store.write((tx) => changeState(tx, { id, accountId }, { from, to, endedAt }))
      if (to === 'running') runs.takeUp({ id, accountId })
      return await findTakeOut(store.read, accountId, id)
    },
    resume: runs.resume,
    close: runs.close,
  }
}

/**
 * Writes the task, which the running appliance takes up within seconds. Throws a 409 where enough of them are under
 * way.
 */
export async function orderTakeOut(
  { store, clock }: Pick<TakeOutDeps, 'store' | 'clock'>,
  ...[automation, { filter, says, startedBy }, alongside]: Parameters<TakeOuts['begin']>
): Promise<TakeOutTask> {
  const { id: automationId, name, account_id: accountId } = automation
  const total = await countLive(store.read, automation, filter)
  return await store.write(async (tx) => {
    await refuseMany(tx, accountId)
    const now = clock.now()
    const detail = { automationId, name, says, filter, before: firstUuidAt(now + 1) }
    const made = { accountId, kind, state: 'running', total } as const
    const id = await createTask(tx, { ...made, detail, startedBy }, now)
    const begun = await findTakeOut(tx, accountId, id)
    await alongside?.(tx, begun)
    return begun
  })
}

/** Throws a 404 unless the account has it. */
export async function findTakeOut(read: Read, accountId: string, id: number): Promise<TakeOutTask> {
  const task = await findTask(read, accountId, id)
  if (task.kind !== kind) throw new ApiError('not_found', 'The account has no such task')
  return task as unknown as TakeOutTask
}

// Tasks that ended are kept for 30 days.
const mostLooked = 200

/** The last task of an automation; throws a 404 where there was none. */
export async function lastTakeOut(
  read: Read,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
): Promise<TakeOutTask> {
  const all = (await listTasks(read, account_id, kind, mostLooked)) as unknown as TakeOutTask[]
  const found = all.find(({ detail }) => detail.automationId === id)
  if (found !== undefined) return found
  throw new ApiError('not_found', 'Nobody was taken out of this automation by one request lately')
}

/** The tasks of an automation that are under way or paused. */
export async function takeOutsUnderWay(
  read: Read,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
): Promise<{ id: number; says: string }[]> {
  const live = (await liveTasks(read, kind)) as unknown as TakeOutTask[]
  return live
    .filter(({ accountId, detail }) => accountId === account_id && detail.automationId === id)
    .map((task) => ({ id: task.id, says: task.detail.says }))
}

async function refuseMany(read: Read, accountId: string): Promise<void> {
  const live = await liveTasks(read, kind)
  if (live.filter((one) => one.accountId === accountId).length < mostLive) return
  const message = 'Ten tasks that take people out are under way: wait for one, or stop it'
  throw new ApiError('conflict', message)
}

/** Takes out the next runs that fit; resolves with whether they were the last. Runs that began since then stay. */
async function slice({ store, clock }: TakeOutDeps, task: TakeOutTask): Promise<boolean> {
  const { id, accountId, detail } = task
  const { automationId, filter, before } = detail
  const found = await findRunIds(store.read, automationId, filter, { limit: perSlice, before })
  return await store.write(async (tx) => {
    const now = await findTakeOut(tx, accountId, id)
    // The task was paused or stopped meanwhile, or somebody else has done this slice.
    if (now.state !== 'running' || now.detail.before !== before) return false
    const rows = await fittingRows(tx, automationId, found.ids, filter)
    await cancelRows(tx, rows, 'team', clock.now())
    const done = now.done + rows.length
    const isOver = found.next === undefined
    await tx
      .updateTable('tasks')
      .set({
        done,
        total: isOver ? done : Math.max(done, now.total),
        detail: JSON.stringify({ ...detail, before: found.next ?? before }),
        // The last slice writes the end, so that nothing begins anew after a kill behind it.
        ...(isOver && { state: 'done', ended_at: clock.now() }),
      })
      .where('id', '=', id)
      .execute()
    return isOver
  }, accountId)
}

/** Those of some runs that are live and still fit: a run may have gone on since it was found. */
async function fittingRows(
  tx: Tx,
  automationId: string,
  ids: readonly string[],
  { stepIds, wait }: RunsFilter,
) {
  const rows = await tx
    .selectFrom('automation_live')
    .select(['id', 'step_id', 'history', 'started_at', 'blocked', 'held_at'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('automation_id', '=', automationId)
    .execute()
  return rows.filter(({ step_id, blocked, held_at }) => {
    if (stepIds !== undefined && !stepIds.includes(step_id)) return false
    if (wait === undefined) return true
    return wait === 'held' ? held_at !== null : held_at === null && blockedReason(blocked) === wait
  })
}
