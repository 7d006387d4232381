import { type Read, storedTexts } from '../../store/index.js'
import { csvLine } from '../../suppression/index.js'

const perPage = 500

/**
 * All rows that an import has refused, and the first of those that it has taken in with something to be said of them, as
 * CSV: the line, the reason, and the row itself.
 */
export async function* refusedCsv(read: Read, taskId: number): AsyncGenerator<string> {
  yield csvLine(['line', 'reason', 'row'])
  for (let after = 0; ; ) {
    const rows = await read
      .selectFrom('import_refusals')
      .select(['line', 'reason', 'cells'])
      .where('task_id', '=', taskId)
      .where('line', '>', after)
      .orderBy('line')
      .limit(perPage)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.line
    yield rows
      .map(({ line, reason, cells }) =>
        csvLine([String(line), reason, ...(storedTexts(cells) ?? [])]),
      )
      .join('')
  }
}
