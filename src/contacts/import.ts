import { makeBatchSize } from '../bounded/index.js'
import { pause, systemClock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { addBatch, type BatchCounts, type KnownPolicy } from './bulk.js'
import { type Columns, type ColumnUse, type DescribedField, readHeader } from './columns.js'
import type { ContactEffect } from './contact.js'
import { type CsvBreak, readCsv } from './csv-records.js'
import { readRow } from './csv-row.js'
import {
  keepProgress,
  keptCells,
  type RefusedLine,
  readProgress,
  type TaskPlace,
} from './import-task/progress.js'
import { progressAfter, type ReadRows } from './import-task/progress-after.js'
import type { ContactDeps } from './list.js'
import { requireList } from './list.js'
import { columnsOf, type Mapping } from './mapping.js'
import { addNoMail, type NoMailCounts, noneWithoutMail } from './no-mail.js'
import { apiRowWords, pageRowWords } from './row-words.js'
import { ceilingReached } from './total.js'

/** The result of a file's rows so far. */
export interface ContactImportCounts {
  /** Rows that put somebody on the list. */
  imported: number
  /** Rows of people who were on it, by an earlier row or before. */
  skipped: number
  /** Rows without a valid address, or with something that cannot be kept. */
  invalid: number
  /** The first of these rows, by the line on which they begin, and why. */
  refused: RefusedLine[]
  /** Rows that say that somebody left, bounced or complained: that is recorded. */
  suppressed: number
  /**
   * How many of the people whom it has put on the list get no mail, because of this file or of what was known before.
   */
  noMail: NoMailCounts
  /** Rows whose phone number cannot be read as one: it is kept as a field `phone`. */
  unreadPhones: number
  /** What each column became. */
  columns: readonly ColumnUse[]
}

/** How a file is imported, and onto which list. */
export interface ContactImportOptions {
  listId: string
  /** How many contacts the account may hold; null for any number. */
  ceiling: number | null
  /** The file's name, for the consent record. */
  file: string
  /** The country of phone numbers without an international prefix. */
  defaultCountry: string
  /** Whether joining a list has its usual consequences here too. */
  trigger?: boolean
  maxRows?: number
  /** How to read the file, where somebody has said so; by default as its header says. */
  mapping?: Mapping
  /** The account's fields, against which the columns of a mapping are checked. */
  described?: readonly DescribedField[]
  known?: KnownPolicy
  /** How its people agreed to get mail, for the consent record. */
  agreed?: string
  /** The import's task: it goes on after the task's last line, and ends early when the task is no longer wanted. */
  task?: TaskPlace
}

// The most rows of a file, and the most refused rows that are reported.
export const maxImportRows = 1_000_000
const maxRefusedLines = 100
// Clients wait for as long as a batch holds the turn to write. 200 rows are some 5 ms; 100 cost 15 % more CPU a
// row. On a slower or busy machine, or with a list larger than memory, batches are smaller.
const perWrite = { least: 25, most: 200, mostMs: 8 }
// A row that starts runs costs as much as several others.
const perTriggeringWrite = { least: 10, most: 50, mostMs: 8 }
// Further batches are read while these are being written to the disk, and then share the next sync.
const maxUnderWay = 3
// Between two batches clients have the disk and their turn.
const restMs = 1

/**
 * Reads a CSV file onto a list while it arrives, in batches; few are read before the first is on disk. Throws a 400
 * with `line` where the file breaks, a 403 at the ceiling, and the `validation_error` or `service_unavailable` that
 * `file` throws when it cannot go on. Each has the counts so far: what is counted is in, whatever happens to the rest.
 * `follow` is for imports with `trigger`.
 */
export async function importContacts(
  { store, clock, follow: effect }: ContactDeps & { follow?: ContactEffect },
  accountId: string,
  file: AsyncIterable<Uint8Array>,
  options: ContactImportOptions,
): Promise<ContactImportCounts> {
  const { listId, ceiling, file: name, defaultCountry, trigger } = options
  const { maxRows = maxImportRows, mapping, described, known, agreed, task } = options
  const follow = trigger ? effect : undefined
  // A task's refusals are read in the file of refused rows that its page gives.
  const words = task === undefined ? apiRowWords : pageRowWords
  const size = makeBatchSize(follow === undefined ? perWrite : perTriggeringWrite)
  const counts = noCounts()
  let unwritten = noneRead(0)
  let importId: number | undefined
  // A batch reached the ceiling or failed, or the task is no longer wanted: later batches must write nothing.
  let ended = false
  let isHalted = false
  let isLost = false
  const underWay: Promise<BatchCounts | undefined>[] = []
  const put = async ({ rows, leavers, refused, line }: ReadRows) =>
    await store.write(async (tx) => {
      if (ended) return undefined
      if (isLost) throw brokenOff()
      // Until this write succeeds: later batches may be in the same transaction, and must not count as done without it.
      isLost = task !== undefined
      const progress = task && (await readProgress(tx, task.id))
      if (progress?.isWanted === false) {
        ended = isHalted = true
        return undefined
      }
      await requireList(tx, accountId, listId)
      const newId = store.ids.uuid
      const now = clock.now()
      importId =
        (task === undefined ? importId : progress?.result.importId) ??
        (await openImport(tx, { accountId, listId, file: name, agreed, now }))
      const batch = { accountId, listId, importId, file: name, ceiling, rows, newId, now, follow }
      const isEmpty = rows.length + leavers.length === 0
      const done = isEmpty ? noRows : await addBatch(tx, { ...batch, leavers, known })
      ended = done.full
      if (task !== undefined && progress !== undefined) {
        const before = { ...progress, result: { ...progress.result, importId } }
        const read = { rows, leavers, refused, line }
        await keepProgress(tx, task.id, progressAfter(before, done, read))
      }
      size.took(rows.length, clock.now() - now)
      isLost = false
      return done
    }, accountId)
  /** Writes what was read, and waits until no more than `left` batches are under way. */
  const write = async (left = 0) => {
    const read = unwritten
    unwritten = noneRead(read.line)
    if (lengthOf(read) > 0) {
      const written = put(read)
      written.catch(() => {
        ended = true
      })
      underWay.push(written)
    }
    await settle(left)
  }
  const settle = async (left: number) => {
    while (underWay.length > left) {
      const done = await underWay.shift()
      if (done !== undefined) countBatch(counts, done, words.tooMuchKnown)
      if (done?.full && ceiling !== null) throw ceilingReached(ceiling, { ...counts })
    }
  }
  const refuseRow = (line: number, reason: string, cells: readonly string[]) => {
    refuseLine(counts, { line, reason })
    if (task !== undefined) unwritten.refused.push({ line, reason, cells: keptCells(cells) })
  }
  const breakOff = async ({ line, reason }: CsvBreak) => {
    await write()
    throw new ApiError('validation_error', `Line ${line}: ${reason}`, {
      fields: { line, ...counts },
    })
  }

  const arriving = watched(file)
  let columns: Columns | undefined
  let rows = 0
  try {
    for await (const record of readCsv(arriving.pieces, mapping)) {
      if ('reason' in record) return await breakOff(record)
      const { line, cells } = record
      if (columns === undefined) {
        columns = mapping ? mappedColumns(mapping, described) : headerAt(line, cells, counts)
        counts.columns = columns.became
        if (mapping?.hasHeader ?? true) continue
      }
      if (rows++ === maxRows) return await breakOff({ line, reason: `over ${maxRows} rows` })
      if (task !== undefined && line <= task.after) continue
      unwritten.line = line
      const contact = readRow(columns, cells, { defaultCountry, words })
      if (typeof contact === 'string') refuseRow(line, contact, cells)
      else if (contact.refused !== undefined) {
        refuseRow(line, contact.refused, cells)
        unwritten.leavers.push({ line, ...contact })
      } else {
        // Rows without own fields are never shown again, so most files need no cells.
        const isShown = task !== undefined && contact.metadata !== undefined
        unwritten.rows.push({ line, ...(isShown && { cells: keptCells(cells) }), ...contact })
      }
      if (lengthOf(unwritten) >= size.rows) {
        await write(maxUnderWay)
        if (ended) break
        await pause(systemClock, restMs)
      }
    }
    await write()
    if (isHalted) throw new ApiError('service_unavailable', 'The import is not wanted at present')
    if (columns === undefined) return await breakOff({ line: 1, reason: 'the file is empty' })
    return counts
  } catch (error) {
    if (!arriving.isOwn(error) || !(error instanceof ApiError)) throw error
    if (error.code !== 'validation_error' && error.code !== 'service_unavailable') throw error
    await settle(0)
    throw withCounts(error, counts)
  } finally {
    await Promise.allSettled(underWay)
  }
}

const noCounts = (): ContactImportCounts => ({
  imported: 0,
  skipped: 0,
  invalid: 0,
  refused: [],
  suppressed: 0,
  noMail: noneWithoutMail(),
  unreadPhones: 0,
  columns: [],
})
const noRows: BatchCounts = {
  imported: 0,
  skipped: 0,
  invalid: [],
  suppressed: 0,
  noMail: noneWithoutMail(),
  unreadPhones: [],
  full: false,
}
const noneRead = (line: number): ReadRows => ({ rows: [], leavers: [], refused: [], line })
const lengthOf = ({ rows, leavers, refused }: ReadRows) =>
  rows.length + leavers.length + refused.length

/** The columns as somebody has named them. Throws a 400. */
function mappedColumns({ columns }: Mapping, described?: readonly DescribedField[]): Columns {
  const mapped = columnsOf(columns, described)
  if (typeof mapped === 'string') throw new ApiError('validation_error', mapped)
  return mapped
}

/** A file, and whether reading it has failed. */
function watched(file: AsyncIterable<Uint8Array>) {
  let fault: unknown
  async function* pieces() {
    try {
      yield* file
    } catch (error) {
      fault = error
      throw error
    }
  }
  return { pieces: pieces(), isOwn: (error: unknown) => error === fault }
}

const brokenOff = () =>
  new ApiError('service_unavailable', 'The import goes on where its last batch was written')

/** The refusal, with what is on the list in spite of it. */
function withCounts(
  { code, message, status, headers, fields }: ApiError,
  counts: ContactImportCounts,
): ApiError {
  return new ApiError(code, message, { status, headers, fields: { ...fields, ...counts } })
}

/** Adds a batch's result. `reason`: why its invalid lines are invalid. */
function countBatch(counts: ContactImportCounts, done: BatchCounts, reason: string): void {
  counts.imported += done.imported
  counts.skipped += done.skipped
  counts.suppressed += done.suppressed
  counts.noMail = addNoMail(counts.noMail, done.noMail)
  counts.unreadPhones += done.unreadPhones.length
  for (const line of done.invalid) refuseLine(counts, { line, reason })
}

/** Kept in the order of lines: the database's refusals are known some batches later than the file's. */
function refuseLine(counts: ContactImportCounts, refused: RefusedLine): void {
  counts.invalid++
  const last = counts.refused.at(-1)
  if (counts.refused.length === maxRefusedLines && refused.line > (last?.line ?? 0)) return
  counts.refused.push(refused)
  counts.refused.sort((a, b) => a.line - b.line)
  counts.refused.length = Math.min(counts.refused.length, maxRefusedLines)
}

/** The row by which the origin of members is looked up. */
async function openImport(
  tx: Tx,
  given: {
    accountId: string
    listId: string
    file: string
    agreed: string | undefined
    now: number
  },
): Promise<number> {
  const { accountId, listId, file, agreed = null, now } = given
  const { id } = await tx
    .insertInto('contact_imports')
    .values({ account_id: accountId, list_id: listId, file, started_at: now, agreed })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The columns by the header. Throws a 400 with the line, and a 415 for a file that is no CSV. */
function headerAt(line: number, cells: readonly string[], counts: ContactImportCounts): Columns {
  // RFC 4180 has no NUL: the file has a spreadsheet's own format, or is UTF-16 without its mark.
  if (cells.some((cell) => cell.includes('\0'))) {
    throw new ApiError('unsupported_media_type', 'The file is not CSV text; save it as CSV, UTF-8')
  }
  const columns = readHeader(cells)
  if (typeof columns !== 'string') return columns
  throw new ApiError('validation_error', `Line ${line}: ${columns}`, {
    fields: { line, ...counts },
  })
}
