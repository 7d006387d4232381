import type { Selectable } from 'kysely'
import { ApiError } from '../errors/index.js'
import { type Read, storedObject, type TaskRow, type Tx } from '../store/index.js'

export type TaskState = TaskRow['state']

/** A task as its pages see it. `detail` and `result` are what its kind keeps. */
export interface AccountTask {
  id: number
  accountId: string
  kind: TaskRow['kind']
  state: TaskState
  /** How far it is, of `total`. */
  done: number
  total: number
  detail: Record<string, unknown>
  result: Record<string, unknown>
  startedBy: string
  begunAt: number
  endedAt: number | null
  /** The node that the task was given to, which has its file. */
  node: number
}

/** Answers with its number. */
export async function createTask(
  tx: Tx,
  given: Pick<AccountTask, 'accountId' | 'kind' | 'state' | 'total' | 'detail' | 'startedBy'>,
  now: number,
): Promise<number> {
  const { id } = await tx
    .insertInto('tasks')
    .values({
      account_id: given.accountId,
      kind: given.kind,
      state: given.state,
      done: 0,
      total: given.total,
      detail: JSON.stringify(given.detail),
      result: null,
      started_by: given.startedBy,
      begun_at: now,
      ended_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Throws a 404 unless the account has it. */
export async function findTask(read: Read, accountId: string, id: number): Promise<AccountTask> {
  const row = await read
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', 'The account has no task with this number')
  return toTask(row)
}

/** The latest tasks of an account of a kind, the newest first. */
export async function listTasks(
  read: Read,
  accountId: string,
  kind: AccountTask['kind'],
  limit: number,
): Promise<AccountTask[]> {
  const rows = await read
    .selectFrom('tasks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toTask)
}

/** The tasks of all accounts that have not ended, drafts too; of one kind, or of all. */
export async function liveTasks(read: Read, kind?: AccountTask['kind']): Promise<AccountTask[]> {
  const rows = await read
    .selectFrom('tasks')
    .selectAll()
    .where('ended_at', 'is', null)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? 'import'))
    .orderBy('id')
    .execute()
  return rows.map(toTask)
}

/** The numbers of some tasks of all accounts that ended before a time. */
export async function tasksEndedBy(read: Read, until: number, limit: number): Promise<number[]> {
  const rows = await read
    .selectFrom('tasks')
    .select('id')
    .where('ended_at', '<', until)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** The numbers of a few of an account's ended tasks, without the newest `kept`. */
export async function tasksBeyond(read: Read, accountId: string, kept: number): Promise<number[]> {
  const rows = await read
    .selectFrom('tasks')
    .select('id')
    .where('account_id', '=', accountId)
    .where('ended_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(2 * kept)
    .execute()
  return rows.slice(kept).map(({ id }) => id)
}

/**
 * Changes a task that is in one of the states `from`; throws a 409 that names its state. `endedAt` ends the task,
 * null lets it go on again.
 */
export async function changeState(
  tx: Tx,
  task: Pick<AccountTask, 'id' | 'accountId'>,
  { from, to, ...more }: StateChange,
): Promise<AccountTask> {
  const found = await findTask(tx, task.accountId, task.id)
  if (!from.includes(found.state)) {
    throw new ApiError('conflict', `The task is ${found.state} and not ${from.join(' or ')}`)
  }
  const changed = { ...found, state: to, ...more }
  await tx
    .updateTable('tasks')
    .set({
      state: to,
      total: changed.total,
      begun_at: changed.begunAt,
      detail: JSON.stringify(changed.detail),
      result: JSON.stringify(changed.result),
      ended_at: changed.endedAt,
    })
    .where('id', '=', found.id)
    .execute()
  return changed
}

interface StateChange
  extends Partial<Pick<AccountTask, 'total' | 'detail' | 'result' | 'begunAt' | 'endedAt'>> {
  from: readonly TaskState[]
  to: TaskState
}

/**
 * Deletes a task with all that belongs to it; a task in another state than `state` stays. Resolves with whether it is
 * gone.
 */
export async function removeTask(tx: Tx, id: number, state?: TaskState): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('tasks')
    .where('id', '=', id)
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'draft'))
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

const toTask = (row: Selectable<TaskRow>): AccountTask => ({
  id: row.id,
  accountId: row.account_id,
  kind: row.kind,
  state: row.state,
  done: row.done,
  total: row.total,
  detail: storedObject(row.detail),
  result: storedObject(row.result),
  startedBy: row.started_by,
  begunAt: row.begun_at,
  endedAt: row.ended_at,
  node: row.node,
})
