import { ApiError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { addBatch, type ImportedRow } from './bulk.js'
import { type CsvBreak, readCsv } from './csv-records.js'
import { type Columns, readHeader, readRow } from './csv-row.js'
import type { ContactDeps } from './deps.js'
import { requireList } from './list.js'
import { ceilingReached } from './total.js'

export interface ImportCounts {
  /** Rows that put somebody on the list. */
  imported: number
  /** Rows of those who were on it, by an earlier row or before. */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept. */
  invalid: number
}

export interface ImportOptions {
  listId: string
  /** How many contacts the account may hold; null for any number. */
  ceiling: number | null
  /** The file's name, for the consent record. */
  file: string
  /** Of phone numbers without an international prefix. */
  defaultCountry: string
  maxRows?: number
}

export const maxImportRows = 1_000_000
// A few milliseconds of the turn to write.
const perWrite = 500

/**
 * Reads a CSV file onto a list while it arrives, in batches each of which is on disk before the
 * next is read on. Throws a 400 with `line` where the file breaks, a 403 at the ceiling, both with
 * the counts so far: what is counted is in, whatever becomes of the rest.
 */
export async function importContacts(
  { store, clock }: ContactDeps,
  accountId: string,
  file: AsyncIterable<Uint8Array>,
  { listId, ceiling, file: name, defaultCountry, maxRows = maxImportRows }: ImportOptions,
): Promise<ImportCounts> {
  const counts: ImportCounts = { imported: 0, skipped: 0, invalid: 0 }
  let batch: ImportedRow[] = []
  let importId: number | undefined
  const write = async () => {
    const rows = batch
    batch = []
    if (rows.length === 0) return
    const done = await store.write(async (tx) => {
      await requireList(tx, accountId, listId)
      const newId = store.ids.uuid
      const now = clock.now()
      const id = importId ?? (await openImport(tx, { accountId, listId, file: name, now }))
      const added = { accountId, listId, importId: id, ceiling, rows, newId, now }
      return { ...(await addBatch(tx, added)), importId: id }
    })
    importId = done.importId
    counts.imported += done.imported
    counts.skipped += done.skipped
    counts.invalid += done.invalid
    if (done.full && ceiling !== null) throw ceilingReached(ceiling, { ...counts })
  }
  const breakOff = async ({ line, reason }: CsvBreak) => {
    await write()
    throw new ApiError('validation_error', `Line ${line}: ${reason}`, {
      fields: { line, ...counts },
    })
  }

  let columns: Columns | undefined
  let rows = 0
  for await (const record of readCsv(file)) {
    if ('reason' in record) return await breakOff(record)
    const { line, cells } = record
    if (columns === undefined) {
      columns = headerAt(line, cells, counts)
      continue
    }
    if (rows++ === maxRows) return await breakOff({ line, reason: `over ${maxRows} rows` })
    const contact = readRow(columns, cells, defaultCountry)
    if (contact === undefined) counts.invalid++
    else if (batch.push({ ...contact, line }) === perWrite) await write()
  }
  await write()
  if (columns === undefined) return await breakOff({ line: 1, reason: 'the file is empty' })
  return counts
}

/** What the rows' origin is looked up by. */
async function openImport(
  tx: Tx,
  given: { accountId: string; listId: string; file: string; now: number },
): Promise<number> {
  const { accountId, listId, file, now } = given
  const { id } = await tx
    .insertInto('contact_imports')
    .values({ account_id: accountId, list_id: listId, file, started_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

function headerAt(line: number, cells: readonly string[], counts: ImportCounts): Columns {
  // RFC 4180 knows no NUL: it is a spreadsheet's own format, or UTF-16 without its mark.
  if (cells.some((cell) => cell.includes('\0'))) {
    throw new ApiError('unsupported_media_type', 'The file is no CSV text; save it as CSV, UTF-8')
  }
  const columns = readHeader(cells)
  if (typeof columns !== 'string') return columns
  throw new ApiError('validation_error', `Line ${line}: ${columns}`, {
    fields: { line, ...counts },
  })
}
