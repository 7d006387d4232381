import { pipeline, Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import type { CsvError } from 'csv-parse'

/** The cells of one record and the line on which it begins: a quoted cell may hold line ends. */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** Where the file cannot be read on, and why. */
export interface CsvBreak {
  line: number
  reason: string
}

// A cell of 1 MB is read, and refused as a part of its row; a quote that never closes ends here.
const maxRecordBytes = 2 * 1024 * 1024
// Characters in which the first line has to end: by it the delimiter is found.
const maxHeaderLength = 64 * 1024
// Characters that are parsed at once: a few milliseconds, between which others are served.
const pieceLength = 16 * 1024

/**
 * The records of a CSV file: UTF-8, or UTF-16 with its byte order mark; comma, semicolon or tab,
 * whichever the header has most of. Lines of nothing or blanks are none. At a break the records end
 * with it.
 */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<CsvRecord | CsvBreak> {
  const text = decoded(bytes)
  const beginning = await headerOf(text)
  // Here, as every thread loads this folder and one imports.
  const { parse } = await import('csv-parse')
  const parser = parse({
    delimiter: delimiterIn(beginning),
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecordBytes,
    // An error would end the stream at once, and lose the good records that it still holds.
    skip_records_with_error: true,
  })
  let broken: { after: number; reason: string } | undefined
  parser.on('skip', (error: CsvError & { records?: number }) => {
    broken ??= { after: error.records ?? 0, reason: reasonOf(error) }
  })
  // An error of the source comes out of the parser's own iteration.
  pipeline(Readable.from(inPieces(beginning, text, () => broken === undefined)), parser, () => {})
  // Counted here: with `info` csv-parse makes two objects a record, a third of all its time.
  let line = 1
  let records = 0
  for await (const cells of parser as AsyncIterable<string[]>) {
    if (broken !== undefined && records === broken.after) break
    if (cells.some((cell) => cell.includes('\uFFFD'))) {
      yield { line, reason: 'it is not UTF-8; save the file as UTF-8' }
      return
    }
    if (cells.length > 1 || cells[0]?.trim() !== '') yield { line, cells }
    records++
    line += cells.reduce((lines, cell) => lines + lineEndsIn(cell), 1)
  }
  if (broken !== undefined) yield { line, reason: broken.reason }
}

/** How many lines a cell goes over. */
const lineEndsIn = (cell: string) => cell.match(/\r\n|\r|\n/g)?.length ?? 0

function reasonOf(error: CsvError): string {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed'
  return 'it is over 2 MiB long; perhaps a quote is not closed'
}

/** The file as text. The first two bytes tell the encoding, so they are waited for. */
async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let first: Uint8Array = new Uint8Array()
  for await (const piece of bytes) {
    if (decoder === undefined) {
      first = first.length === 0 ? piece : Buffer.concat([first, piece])
      if (first.length < 2) continue
      decoder = new TextDecoder(encodingOf(first))
      yield decoder.decode(first, { stream: true })
    } else {
      yield decoder.decode(piece, { stream: true })
    }
  }
  // What is left is half a character.
  yield decoder === undefined ? new TextDecoder().decode(first) : decoder.decode()
}

/** The encoding by its byte order mark; UTF-8 without one. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** The text up to the end of the header and whatever came with it. */
async function headerOf(text: AsyncGenerator<string>): Promise<string> {
  let beginning = ''
  while (beginning.length < maxHeaderLength && !/[\r\n]/.test(beginning.trimStart())) {
    const { value, done } = await text.next()
    if (done) break
    beginning += value
  }
  return beginning
}

/** The delimiter that the header has most of, outside of its quotes. */
function delimiterIn(beginning: string): string {
  const header = /^\s*([^\r\n]*)/.exec(beginning)?.[1] ?? ''
  const bare = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => bare.split(delimiter).length
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** The text in pieces, as long as it goes on. */
async function* inPieces(beginning: string, text: AsyncGenerator<string>, goOn: () => boolean) {
  yield* cut(beginning)
  for await (const part of text) {
    for (const piece of cut(part)) {
      if (!goOn()) return
      yield piece
    }
  }
}

/** Pieces of a text that are parsed without a pause. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + pieceLength, text.length)
    // The two halves of a character beyond U+FFFF must stay together.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++
    yield text.slice(at, end)
    at = end
  }
}
