import { createReadStream, type ReadStream } from 'node:fs'
import { mkdir, open, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { TextDecoder } from 'node:util'
import { counted } from '../../amounts/index.js'
import { ApiError } from '../../errors/index.js'
import { columnKey } from '../../suppression/index.js'
import { type Columns, readHeader } from '../columns.js'
import { type CsvBreak, type CsvRecord, readCsv } from '../csv-records.js'
import { markKindOf } from '../left-marks.js'
import { type FileDelimiter, fileDelimiters, type MappedColumn, type Mapping } from '../mapping.js'

/** What is known of an uploaded file. */
export interface KeptFile {
  bytes: number
  lines: number
  isUtf8: boolean
  /** Its first two bytes say that it is UTF-16. */
  isWide?: true
}

/** The longest file that a page takes; a million rows are some 60 MB. */
export const maxImportBytes = 256 * 1024 * 1024
// The size of all waiting files of all accounts.
const mostKept = 2 * 1024 ** 3
const lookEvery = 8 * 1024 ** 2
const lineEnd = 0x0a
const carriageReturn = 0x0d

const folderOf = (dataDir: string) => join(dataDir, 'imports')
/** Where the file of an import lies. */
export const fileOf = (dataDir: string, id: number) => join(folderOf(dataDir), `${id}.csv`)

/**
 * Writes the file of an import to the data directory while it arrives. Throws a 413 where it is too long, a 503 where
 * too many files wait, and what `pieces` throws; then nothing remains.
 */
export async function keepFile(
  dataDir: string,
  id: number,
  pieces: AsyncIterable<Uint8Array>,
): Promise<KeptFile> {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 })
  const file = await open(fileOf(dataDir, id), 'wx', 0o600)
  const kept: KeptFile = { bytes: 0, lines: 0, isUtf8: true }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let last = lineEnd
  let nextLook = 0
  // UTF-16, where each line end has a zero beside it.
  let isWide: boolean | undefined
  try {
    for await (const piece of pieces) {
      kept.bytes += piece.length
      if (kept.bytes > maxImportBytes) throw tooLong()
      // Checked again and again, as other files arrive meanwhile.
      if (kept.bytes >= nextLook) {
        nextLook = kept.bytes + lookEvery
        if ((await keptBytes(dataDir)) > mostKept) throw tooManyWait()
      }
      isWide ??=
        piece.length > 1 && /^(fffe|feff)$/.test(Buffer.from(piece.subarray(0, 2)).toString('hex'))
      kept.lines += linesIn(piece, last, isWide)
      last = piece.at(-1) ?? last
      kept.isUtf8 &&= isText(decoder, piece)
      await file.write(piece)
    }
    if (kept.bytes === 0)
      throw new ApiError('validation_error', 'The file is empty', { status: 422 })
    if (last !== lineEnd && last !== carriageReturn && !isWide) kept.lines++
    await file.sync()
    return isWide ? { ...kept, isWide } : kept
  } catch (error) {
    await dropFile(dataDir, id)
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? tooManyWait() : error
  } finally {
    await file.close()
  }
}

const tooLong = () =>
  new ApiError('validation_error', 'The file is over 256 MB: cut it into several', { status: 413 })
const tooManyWait = () =>
  new ApiError('service_unavailable', 'Too many files of imports wait: try it again later', {
    headers: { 'Retry-After': '600' },
  })

/** The size of all waiting files. */
async function keptBytes(dataDir: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folderOf(dataDir))) {
    bytes += await stat(join(folderOf(dataDir), name)).then(
      ({ size }) => size,
      () => 0,
    )
  }
  return bytes
}

/** Counts line ends of any kind; `before` is the last byte of the piece before. */
function linesIn(piece: Uint8Array, before: number, isWide: boolean): number {
  let lines = 0
  let last = before
  for (const byte of piece) {
    if (isWide && byte === 0) continue
    if (byte === carriageReturn || (byte === lineEnd && last !== carriageReturn)) lines++
    last = byte
  }
  return lines
}

function isText(decoder: TextDecoder, piece: Uint8Array): boolean {
  try {
    decoder.decode(piece, { stream: true })
    return true
  } catch {
    return false
  }
}

/** The file, piece by piece. */
export const readFile = (dataDir: string, id: number, highWaterMark?: number): ReadStream =>
  createReadStream(fileOf(dataDir, id), highWaterMark === undefined ? {} : { highWaterMark })

/** Deletes the file, if it exists. */
export async function dropFile(dataDir: string, id: number): Promise<void> {
  await unlink(fileOf(dataDir, id)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** The numbers of the imports that have files. */
export async function filesKept(dataDir: string): Promise<number[]> {
  const names = await readdir(folderOf(dataDir)).catch(() => [])
  return names.map((name) => Number.parseInt(name, 10)).filter(Number.isSafeInteger)
}

/** The first rows of a file, and what each column probably is. */
export interface Glance {
  rows: readonly (readonly string[])[]
  mapping: Mapping
}

const glancedRows = 21
const glancedBytes = 256 * 1024
const mostColumns = 200

/**
 * Looks into a file. `as`: how somebody wants it read. Throws a 415 for a file that is no CSV and a 422 for an empty
 * one.
 */
export async function glanceAt(
  dataDir: string,
  id: number,
  { isUtf8 }: Pick<KeptFile, 'isUtf8'>,
  as: Partial<Pick<Mapping, 'encoding' | 'delimiter' | 'hasHeader'>> = {},
): Promise<Glance> {
  const encoding = as.encoding ?? (isUtf8 ? 'utf-8' : 'windows-1252')
  const delimiter = as.delimiter ?? (await delimiterOf(dataDir, id, encoding))
  const { records, broken } = await firstRecords(dataDir, id, { encoding, delimiter })
  const rows = records.map(({ cells }) => cells)
  const [first] = rows
  if (first === undefined) {
    const message =
      broken === undefined ? 'The file is empty' : `Line ${broken.line}: ${broken.reason}`
    throw new ApiError('validation_error', message, { status: 422 })
  }
  if (first.some((cell) => cell.includes('\0'))) {
    throw new ApiError('unsupported_media_type', 'The file is not CSV text: save it as CSV, UTF-8')
  }
  if (first.length > mostColumns) {
    const message = `The file has ${counted(first.length, 'column')}, and at most ${mostColumns} can be taken`
    throw new ApiError('validation_error', message, { status: 422 })
  }
  const hasHeader = as.hasHeader ?? !first.some(isAddress)
  return {
    rows,
    mapping: { columns: guessed(first, rows, hasHeader), hasHeader, encoding, delimiter },
  }
}

/** The delimiter with which the first rows have the most cells. */
async function delimiterOf(dataDir: string, id: number, encoding: string): Promise<FileDelimiter> {
  let best: { delimiter: FileDelimiter; cells: number } = { delimiter: ',', cells: 1 }
  for (const delimiter of fileDelimiters) {
    const { records } = await firstRecords(dataDir, id, { encoding, delimiter })
    const cells = records[0]?.cells.length ?? 0
    if (cells > best.cells) best = { delimiter, cells }
  }
  return best.delimiter
}

async function firstRecords(
  dataDir: string,
  id: number,
  as: { encoding: string; delimiter: string },
): Promise<{ records: CsvRecord[]; broken?: CsvBreak }> {
  const records: CsvRecord[] = []
  const bytes = createReadStream(fileOf(dataDir, id), { end: glancedBytes - 1 })
  try {
    for await (const record of readCsv(bytes, as)) {
      // The file seems to break at the end of the piece that is looked at.
      if ('reason' in record) return { records, broken: record }
      if (records.push(record) === glancedRows) break
    }
  } finally {
    bytes.destroy()
  }
  return { records }
}

// A longer text is no address (RFC 5321 §4.5.3.1), and searching it would take long.
const isAddress = (cell: string) => {
  const text = cell.trim()
  return text.length <= 320 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)
}

/**
 * The columns of the header. If it names none as the address, or two, the column with addresses is it, and of two the
 * first.
 */
function headerIn(header: readonly string[], email: number): Columns | string {
  const read = readHeader(header)
  if (typeof read !== 'string' || email === -1) return read
  const keys = header.map(columnKey)
  return readHeader(
    header.map((cell, at) =>
      at === email ? 'email' : keys.indexOf(keys[at] ?? '') < at ? '' : cell,
    ),
  )
}

// Columns beside a country's state, or beside another column of a person's status.
const besideRegion = ['status', 'city', 'zip', 'zipcode', 'postcode', 'postalcode', 'country']

/** Guesses the columns by the header; without one only the column with addresses is known. */
function guessed(
  first: readonly string[],
  rows: readonly (readonly string[])[],
  hasHeader: boolean,
): MappedColumn[] {
  const email = first.findIndex((_, at) => rows.some((cells) => isAddress(cells[at] ?? '')))
  const columns = hasHeader ? headerIn(first, email) : 'none'
  const isOnlyFirst =
    typeof columns !== 'string' && columns.firstName === undefined && columns.lastName !== undefined
  const keys = new Set(hasHeader ? first.map(columnKey) : [])
  // 'State' may be a part of an address, or say whether somebody wants mail.
  const isRegion = (cell: string) =>
    columnKey(cell) === 'state' && besideRegion.some((key) => keys.has(key))
  return first.map((cell, at): MappedColumn => {
    const name = hasHeader ? cell.trim().slice(0, 100) : ''
    if (typeof columns === 'string') {
      // A column that says who left is never left out without being asked.
      const mark = hasHeader ? markKindOf(columnKey(cell)) : undefined
      return { use: at === email ? 'email' : (mark ?? 'nothing'), name }
    }
    const taken = (['email', 'firstName', 'lastName', 'name', 'phone'] as const).find(
      (use) => columns[use] === at,
    )
    if (taken !== undefined) return { use: taken, name }
    if (columns.metadata === at) return { use: 'fields', name }
    // Beside a last name, MailerLite calls the first name so.
    if (isOnlyFirst && columnKey(cell) === 'name') return { use: 'firstName', name }
    const mark = columns.marks.find((one) => one.at === at)
    if (mark !== undefined) return { use: isRegion(cell) ? 'text' : mark.kind, name }
    const isKept = columns.others.some((other) => other.at === at)
    return { use: isKept ? 'text' : (markKindOf(columnKey(cell)) ?? 'nothing'), name }
  })
}
