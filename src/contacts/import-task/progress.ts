import { prepared, storedObject, type Tx } from '../../store/index.js'
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
  /** Of how many rows the phone number is kept as a field; absent in imports of former versions. */
  unreadPhones?: number
  /** Why it has failed, or has paused itself. */
  reason?: string
  /** How many people undoing it has taken off the list. */
  undone?: number
  /** How many people undoing it has left there, as somebody has changed them since. */
  kept?: number
  /** How many bytes of refused rows are kept; there is a limit. */
  refusedBytes?: number
}

/** How many of the rows that are taken in, with something to be said of them, stand beside the refused ones. */
export const mostNoted = 1_000

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

/** The state of an import's task, its last line, and its results. */
export async function readProgress(tx: Tx, id: number) {
  const [row] = await progressOf(tx, { id })
  const known: Partial<ImportResult> = storedObject<never>(row?.result ?? null)
  const result: ImportResult = { imported: 0, skipped: 0, invalid: 0, suppressed: 0, ...known }
  return { isWanted: row?.state === 'running', done: row?.done ?? 0, result }
}

// Each batch reads and writes it, and building the statements takes longer than they do.
const progressOf = prepared<{ id: number }, { state: string; done: number; result: string | null }>(
  (db, { id }) => db.selectFrom('tasks').select(['state', 'done', 'result']).where('id', '=', id),
)

const setProgress = prepared<{ id: number; done: number; result: string }, unknown>(
  (db, { id, done, result }) => db.updateTable('tasks').set({ done, result }).where('id', '=', id),
)

/** Belongs to the rows that it reports, in their transaction. `done`: the last line. */
export async function keepProgress(
  tx: Tx,
  id: number,
  { done, result, refused }: { done: number; result: ImportResult; refused: readonly RefusedRow[] },
): Promise<void> {
  let bytes = result.refusedBytes ?? 0
  const kept = refused.filter(({ reason, cells }) => {
    bytes += reason.length + cells.length
    return bytes <= maxKeptBytes
  })
  const refusedBytes = Math.min(bytes, maxKeptBytes)
  await setProgress(tx, { id, done, result: JSON.stringify({ ...result, refusedBytes }) })
  if (kept.length === 0) return
  await tx
    .insertInto('import_refusals')
    .values(kept.map(({ line, reason, cells }) => ({ task_id: id, line, reason, cells })))
    .onConflict((conflict) => conflict.columns(['task_id', 'line']).doNothing())
    .execute()
}
