import { storedObject, type Tx } from '../../store/index.js'

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
  /** Why it has failed. */
  reason?: string
  /** How many an undoing has taken off the list. */
  undone?: number
}

/** A row that was left out, and why. */
export interface RefusedLine {
  line: number
  reason: string
}

/** The same with its cells. */
export interface RefusedRow extends RefusedLine {
  cells: readonly string[]
}

// Characters of a row that its refusal shows again.
const maxKeptCell = 500
const maxKeptCells = 50

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
  { line, result, refused }: { line: number; result: ImportResult; refused: readonly RefusedRow[] },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ done: line, result: JSON.stringify(result) })
    .where('id', '=', id)
    .execute()
  if (refused.length === 0) return
  await tx
    .insertInto('import_refusals')
    .values(
      refused.map((one) => ({
        task_id: id,
        line: one.line,
        reason: one.reason,
        cells: JSON.stringify(
          one.cells.slice(0, maxKeptCells).map((cell) => cell.slice(0, maxKeptCell)),
        ),
      })),
    )
    .onConflict((conflict) => conflict.columns(['task_id', 'line']).doNothing())
    .execute()
}
