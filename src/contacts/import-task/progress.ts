import { storedObject, type Tx } from '../../store/index.js'
import type { NoMailCounts } from '../no-mail.js'

/** Where an import that is a task goes on, as its thread is told. */
export interface TaskPlace {
  id: number
  /** The last line that is done with. */
  after: number
}

/** What an import's task has come to, as `result` keeps it. */
export interface ImportResult {
  importId?: number
  imported: number
  skipped: number
  invalid: number
  suppressed: number
  /** How many of whom it has put on the list get no mail; not there for imports of former versions. */
  noMail?: NoMailCounts
  /** Why it has failed, or was paused by itself. */
  reason?: string
  /** How many an undoing has taken off the list. */
  undone?: number
  /** How many it has left there, as somebody has changed them since. */
  kept?: number
  /** How much of what is refused is kept, as far as there is room. */
  refusedBytes?: number
}

/** A row that was left out, and why. */
export interface RefusedLine {
  line: number
  reason: string
}

/** The same with its cells, as `keptCells` has them. */
export interface RefusedRow extends RefusedLine {
  cells: string
}

// Characters of a row that its refusal shows again.
const maxKeptCell = 500
const maxKeptCells = 50
// Of one import: a file that is all wrong would fill the database.
const maxKeptBytes = 16 * 1024 ** 2

/** The cells of a row as they are kept: JSON at once, as a part of a text holds all of it in memory. */
export const keptCells = (cells: readonly string[]): string =>
  JSON.stringify(cells.slice(0, maxKeptCells).map((cell) => cell.slice(0, maxKeptCell)))

/** The state that an import's task is in, and what it has come to. */
export async function readProgress(tx: Tx, id: number) {
  const row = await tx
    .selectFrom('tasks')
    .select(['state', 'result'])
    .where('id', '=', id)
    .executeTakeFirst()
  const known: Partial<ImportResult> = storedObject<never>(row?.result ?? null)
  const result: ImportResult = { imported: 0, skipped: 0, invalid: 0, suppressed: 0, ...known }
  return { isWanted: row?.state === 'running', result }
}

/** Goes with the rows that it tells of, in their transaction. */
export async function keepProgress(
  tx: Tx,
  id: number,
  {
    line,
    result,
    refused,
  }: { line: number | undefined; result: ImportResult; refused: readonly RefusedRow[] },
): Promise<void> {
  let bytes = result.refusedBytes ?? 0
  const kept = refused.filter(({ reason, cells }) => {
    bytes += reason.length + cells.length
    return bytes <= maxKeptBytes
  })
  await tx
    .updateTable('tasks')
    .set({
      result: JSON.stringify({ ...result, refusedBytes: Math.min(bytes, maxKeptBytes) }),
      ...(line !== undefined && { done: line }),
    })
    .where('id', '=', id)
    .execute()
  if (kept.length === 0) return
  await tx
    .insertInto('import_refusals')
    .values(kept.map(({ line, reason, cells }) => ({ task_id: id, line, reason, cells })))
    .onConflict((conflict) => conflict.columns(['task_id', 'line']).doNothing())
    .execute()
}
