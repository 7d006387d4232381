import type { Readable } from 'node:stream'
import { type CsvError, type Info, parse } from 'csv-parse'
import { nextTurn } from '../bounded/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import type { Read, Store } from '../store/index.js'
import { type CsvLine, columns, csvLine, headerOf, readCells } from './csv-line.js'
import { listSuppressions, suppressionsOf } from './list.js'
import {
  type Suppression,
  type SuppressionReason,
  type SuppressionScope,
  suppress,
} from './suppress.js'

/** A line of an import that was left out, counted from 1, and why. */
export interface LineFault {
  line: number
  fault: string
}

/** How an import is read. */
export interface SuppressionImportOptions {
  /** For lines that name none. */
  reason: SuppressionReason
  scope?: SuppressionScope | undefined
  /** A note, for lines that have none. */
  detail?: string | undefined
  /** Told of every line that is left out. */
  onFault: (fault: LineFault) => void
  /** Only counts, and writes nothing. A line that would only make a record stronger counts as known. */
  isTrial?: boolean
}

/** What happened to the lines of an import. */
export interface SuppressionImportCounts {
  added: number
  /** Records that were there already. */
  known: number
  faults: number
}

// Addresses in a transaction: a few milliseconds, in which mail that is being accepted waits.
const perWrite = 200
// Records that an export reads at once.
const perPage = 500
// An address with a long note has 2,000 characters; only a quote that is not closed makes a longer
// record.
const maxRecordChars = 64 * 1024
// Records after which the event loop gets a turn.
const perTurn = 500
// After so many bad lines the import ends: no list of addresses has so many, so it is a file of another kind, and
// each bad line costs as much as a good one.
const mostFaults = 100_000

/**
 * Records every address of a CSV (with the columns of an export, or others around `email`) or of a plain list, one a
 * line. Streamed: the counted addresses are recorded, whatever happens to the rest.
 */
export async function importSuppressions(
  { store, clock }: { store: Store; clock: Clock },
  accountId: string,
  input: Readable,
  options: SuppressionImportOptions,
): Promise<SuppressionImportCounts> {
  const counts = { added: 0, known: 0, faults: 0 }
  const report = (line: number, fault: string) => {
    counts.faults++
    options.onFault({ line, fault })
  }
  let batch: CsvLine[] = []
  const record = async () => {
    const lines = batch
    batch = []
    const added = options.isTrial
      ? await unknownAmong(lines)
      : await store.write(async (tx) => {
          const now = clock.now()
          let fresh = 0
          for (const { createdAt, ...given } of lines) {
            const at = Math.min(createdAt ?? now, now)
            if (await suppress(tx, accountId, given, at)) fresh++
          }
          return fresh
        }, accountId)
    counts.added += added
    counts.known += lines.length - added
  }
  // A trial writes nothing, so it has to remember the file's own earlier lines.
  const seen = new Set<string>()
  const unknownAmong = async (lines: readonly CsvLine[]) => {
    let fresh = 0
    for (const { email, reason } of lines) {
      const line = `${reason} ${email.toLowerCase()}`
      const records = seen.has(line) ? [] : await suppressionsOf(store.read, accountId, email)
      if (!seen.has(line) && !records.some((record) => record.reason === reason)) fresh++
      seen.add(line)
    }
    return fresh
  }
  let header: readonly string[] | undefined
  let records = 0
  for await (const { cells, line } of recordsOf(input, report)) {
    // Streams go on without giving others a turn of the event loop.
    if (++records % perTurn === 0) await nextTurn()
    if (counts.faults >= mostFaults) {
      report(line, `${mostFaults} lines could not be read: what follows was left out`)
      break
    }
    if (header === undefined) {
      // This line tells a spreadsheet the delimiter; all delimiters are understood anyway.
      if (records === 1 && /^sep=/i.test(cells[0] ?? '')) continue
      const named = headerOf(cells)
      header = named ?? ['email']
      if (named !== undefined) continue
    }
    const read = readCells(header, cells, options)
    if (typeof read === 'string') report(line, read)
    else if (batch.push(read) === perWrite) await record()
  }
  if (batch.length > 0) await record()
  return counts
}

/** All of an account's records as CSV, by address; `importSuppressions` takes it back. */
export async function* exportSuppressions(read: Read, accountId: string): AsyncGenerator<string> {
  yield csvLine(columns)
  for (let after: Suppression | undefined; ; ) {
    const page = await listSuppressions(read, accountId, { after, limit: perPage })
    after = page.at(-1)
    if (after === undefined) return
    yield page
      .map(({ email, reason, scope, emailId, detail, createdAt, expiresAt }) =>
        csvLine([
          email,
          reason,
          scope,
          emailId ?? '',
          detail ?? '',
          isoTime(createdAt),
          expiresAt === null ? '' : isoTime(expiresAt),
        ]),
      )
      .join('')
  }
}

/** The records with the number of their last line; a record that never ends is taken as the end of the file. */
async function* recordsOf(input: Readable, report: (line: number, fault: string) => void) {
  let brokenAt = Number.POSITIVE_INFINITY
  const parser = parse({
    bom: true,
    info: true,
    delimiter: [',', ';', '\t'],
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRecordChars,
    // An error would end the stream at once, and lose the good records that it still holds.
    skip_records_with_error: true,
  })
  parser.on('skip', (error: CsvError & { lines?: number }) => {
    brokenAt = Math.min(brokenAt, error.lines ?? 0)
  })
  // `pipe` does not pass errors on: a file that cannot be read has to end the parser too.
  input.once('error', (error) => parser.destroy(error)).pipe(parser)
  let line = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      if (info.lines >= brokenAt) break
      line = info.lines
      yield { cells: record, line }
    }
  } finally {
    input.destroy()
  }
  if (brokenAt < Number.POSITIVE_INFINITY) {
    const message = 'a quote is not closed, or a line is longer than 64 KiB; the rest was not read'
    report(line + 1, message)
  }
}

/** What csv-parse gives with `info: true`. */
interface CsvRecord {
  record: string[]
  info: Info
}
