import { storedObject } from '../store/index.js'
import { behind, rowsALook, type Walk } from './erase-logs.js'
import { mayHave, without } from './replace.js'

/**
 * The account's tasks: what was asked for, and the result. A bulk task with contacts that is under way and looks for
 * this very address ends, as nobody has the address any more.
 */
export const eraseTasks: Walk = async (tx, { accountId, replaced, taskId, now }, { after = 0 }) => {
  const rows = await tx
    .selectFrom('tasks')
    .select(['id', 'kind', 'detail', 'result', 'ended_at'])
    .where('account_id', '=', accountId)
    .where('id', '>', Number(after))
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  for (const { id, kind, detail, result, ended_at } of rows) {
    // An erasure has to know its address until it ends.
    if (id === taskId || kind === 'erase' || !mayHave(replaced, detail, result)) continue
    const { order } = storedObject<{ search?: object }>(detail)
    const isOver = ended_at === null && mayHave(replaced, JSON.stringify(order?.search ?? {}))
    const change = { detail: without(replaced, detail), result: without(replaced, result) }
    await tx
      .updateTable('tasks')
      .set({ ...change, ...(isOver && { state: 'stopped', ended_at: now }) })
      .where('id', '=', id)
      .execute()
  }
  return behind(rows, 'id')
}

/** The rows that imports have refused. */
export const eraseRefusals: Walk = async (tx, { accountId, replaced }, { of = 0, after }) => {
  const task = await tx
    .selectFrom('tasks')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', after === undefined ? '>' : '>=', Number(of))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (task === undefined) return undefined
  const rows = await tx
    .selectFrom('import_refusals')
    .select(['line', 'reason', 'cells'])
    .where('task_id', '=', task.id)
    .where('line', '>', task.id === of ? Number(after ?? 0) : 0)
    .orderBy('line')
    .limit(rowsALook)
    .execute()
  for (const { line, reason, cells } of rows) {
    if (!mayHave(replaced, reason, cells)) continue
    await tx
      .updateTable('import_refusals')
      .set({ reason: without(replaced, reason), cells: without(replaced, cells) })
      .where('task_id', '=', task.id)
      .where('line', '=', line)
      .execute()
  }
  return { of: task.id, after: behind(rows, 'line')?.after }
}
