import type { BatchCounts, ImportedRow } from '../bulk.js'
import { addNoMail, noneWithoutMail } from '../no-mail.js'
import { keptPhone, pageRowWords } from '../row-words.js'
import { type ImportResult, mostNoted, type RefusedRow } from './progress.js'

/** What was read since the last write. */
export interface ReadRows {
  rows: ImportedRow[]
  leavers: ImportedRow[]
  /** Those of a task are kept with all of their cells. */
  refused: RefusedRow[]
  /** The last line. */
  line: number
}

/** How far a task is after another batch, with its results so far. */
export function progressAfter(
  before: { done: number; result: ImportResult },
  batch: BatchCounts,
  read: ReadRows,
) {
  const { rows, leavers, line: last } = read
  const line = batch.full ? rows[takenOf(batch) - 1]?.line : last
  // Rows after the ceiling are read again when the import goes on, and count then.
  const isBehind = (row: { line: number }) => batch.full && row.line > (line ?? 0)
  const refused = read.refused.filter((row) => !isBehind(row))
  const leftAgain = leavers.filter((row) => isBehind(row) && (row.left ?? []).length > 0).length
  const { result } = before
  const { unreadPhones = 0 } = result
  return {
    done: line ?? before.done,
    refused: [...refused, ...lostIn(batch, rows), ...notedIn(batch, rows, unreadPhones)],
    result: {
      ...result,
      imported: result.imported + batch.imported,
      skipped: result.skipped + batch.skipped,
      invalid: result.invalid + batch.invalid.length + refused.length,
      suppressed: result.suppressed + batch.suppressed - leftAgain,
      noMail: addNoMail(result.noMail ?? noneWithoutMail(), batch.noMail),
      unreadPhones: unreadPhones + batch.unreadPhones.length,
    },
  }
}

/** How many rows of a batch were taken before the ceiling was reached. */
const takenOf = ({ imported, skipped, invalid }: BatchCounts) => imported + skipped + invalid.length

/** The rows whose fields do not fit beside what is known. */
const lostIn = ({ invalid }: BatchCounts, rows: readonly ImportedRow[]): RefusedRow[] =>
  rows
    .filter((row) => invalid.includes(row.line))
    .map(({ line, cells = '[]' }) => ({ line, reason: pageRowWords.tooMuchKnown, cells }))

/** The first rows that are taken in with a phone number that cannot be read; `before`: how many there were. */
function notedIn(
  { unreadPhones }: BatchCounts,
  rows: readonly ImportedRow[],
  before: number,
): RefusedRow[] {
  const lines = new Set(unreadPhones)
  return rows
    .filter((row) => lines.has(row.line))
    .slice(0, Math.max(0, mostNoted - before))
    .map(({ line, unreadPhone = '', cells = '[]' }) => ({
      line,
      reason: keptPhone(unreadPhone),
      cells,
    }))
}
