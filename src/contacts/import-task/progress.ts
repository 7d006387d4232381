import { storedObject, type Tx } from '../../store/index.js'
import type { NoMailCounts } from '../no-mail.js'

/** Where an import's task goes on, for its thread. */
export interface TaskPlace {
  id: number
  /** The last line that is done. */
  after: number
}

/** The results of an import's task, stored in `result`. */
export interface ImportResult {
  importId?: number
  imported: number
  skipped: number
  invalid: number
  suppressed: number
  /** How many of the people whom it has put on the list get no mail; absent in imports of former versions. */
  noMail?: NoMailCounts
  /** Why it has failed, or has paused itself. */
  reason?: string
  /** How many people undoing it has taken off the list. */
  undone?: number
  /** How many people undoing it has left there, as somebody has changed them since. */
  kept?: number
  /** How many bytes of refused rows are kept; there is a limit. */
  refusedBytes?: number
}

/** A refused row, and why. */
export interface RefusedLine {
  line: number
  reason: string
}

/** A refused row with its cells, as `keptCells` writes them. */
export interface RefusedRow extends RefusedLine {
  cells: string
}

// How many characters of a row its refusal shows.
const maxKeptCell = 500
const maxKeptCells = 50
// The limit for one import: a file with only wrong rows would fill the database.
const maxKeptBytes = 16 * 1024 ** 2

/** The cells of a row in stored form. They become JSON at once, as a part of a text keeps the whole text in memory. */
export const keptCells = (cells: readonly string[]): string =>
  JSON.stringify(cells.slice(0, maxKeptCells).map((cell) => cell.slice(0, maxKeptCell)))

/** The state of an import's task, and its results. */
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

/** Belongs to the rows that it reports, in their transaction. */
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
