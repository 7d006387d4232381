import { pipeline, Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import type { CsvError } from 'csv-parse'
import { shownCount } from '../amounts/index.js'

/** The cells of one record and the line on which it begins: a quoted cell may hold line ends. */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** Where the file can no longer be read, and why. */
export interface CsvBreak {
  line: number
  reason: string
}

// A cell of 1 MB is read, and refused as a part of its row; an unclosed quote ends here.
const maxRecordBytes = 2 * 1024 * 1024
// A sheet has at most 16,384 columns.
const maxCells = 20_000
// The first line must end within this many characters: it tells the delimiter.
const maxHeaderLength = 64 * 1024
// How many characters are parsed at once: that takes a few milliseconds, after which others are served.
const pieceLength = 16 * 1024

/**
 * The records of a CSV file: UTF-8, or UTF-16 with its byte order mark. The delimiter is the one that a first line
 * `sep=;` names; else comma, semicolon, tab or bar, whichever the header has most of; or `as` somebody says. Empty and
 * blank lines are no records. A break is the last record.
 */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  as?: { encoding: string; delimiter: string },
): AsyncGenerator<CsvRecord | CsvBreak> {
  const { text, isText } = decoded(bytes, as?.encoding)
  const { beginning, delimiter: found, line: first } = await beginningOf(text)
  const delimiter = as?.delimiter ?? found
  // Imported here, as every thread loads this folder and only one imports files.
  const { parse } = await import('csv-parse')
  const parser = parse({
    delimiter,
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
  // An error of the source comes out of the parser's own iteration. csv-parse bounds a record by
  // its characters, and empty cells have none, so cells are counted too.
  const { state } = parser as unknown as { state: { record: unknown[] } }
  const goOn = () => {
    if (state.record.length > maxCells) {
      broken ??= { after: parser.info.records, reason: `it has over ${shownCount(maxCells)} cells` }
    }
    return broken === undefined
  }
  pipeline(Readable.from(inPieces(beginning, text, goOn)), parser, () => {})
  // Counted here: with `info` csv-parse makes two objects for each record, which takes a third of its time.
  let line = first
  let records = 0
  // One record is kept back: the last one may contain what is no text.
  let last: CsvRecord | undefined
  for await (const cells of parser as AsyncIterable<string[]>) {
    if (broken !== undefined && records === broken.after) break
    if (last !== undefined && isFilled(last)) yield last
    last = { line, cells }
    records++
    line += cells.reduce((lines, cell) => lines + lineEndsIn(cell), 1)
  }
  if (broken !== undefined && last !== undefined && isFilled(last)) yield last
  if (!isText()) {
    const at = broken === undefined ? (last?.line ?? line) : line
    yield { line: at, reason: 'it is not UTF-8; save the file as UTF-8' }
  } else if (broken !== undefined) yield { line, reason: broken.reason }
  else if (last !== undefined && isFilled(last)) yield last
}

/** Whether a record is more than a blank line. */
const isFilled = ({ cells }: CsvRecord) => cells.length > 1 || cells[0]?.trim() !== ''
/** How many lines a cell goes over. */
const lineEndsIn = (cell: string) => cell.match(/\r\n|\r|\n/g)?.length ?? 0

function reasonOf(error: CsvError): string {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed'
  return 'it is over 2 MiB long; perhaps a quote is not closed'
}

/**
 * The file as text, and whether everything read so far is text. The text ends at the first byte that is none, with
 * U+FFFD in its place, a character that the file may also have itself. The first two bytes tell the encoding, so they
 * are waited for.
 */
function decoded(bytes: AsyncIterable<Uint8Array>, named?: string) {
  let isText = true
  const decode = (encoding: string, given: Uint8Array, isFirst: boolean) => {
    try {
      return new TextDecoder(encoding, { fatal: true, ignoreBOM: !isFirst }).decode(given)
    } catch {
      isText = false
      return `${new TextDecoder(encoding).decode(given.subarray(0, soundLength(encoding, given)))}\uFFFD`
    }
  }
  async function* pieces(): AsyncGenerator<string> {
    let encoding: string | undefined
    // The text may begin with a byte order mark, which is not part of it.
    let isFirst = true
    // The first bytes of a character that goes on in the next piece.
    let rest: Uint8Array = new Uint8Array()
    for await (const piece of bytes) {
      const given = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      rest = given
      if (given.length < 2) continue
      encoding ??= encodingOf(given, named)
      const end = wholeLength(encoding, given)
      rest = given.subarray(end)
      if (end === 0) continue
      yield decode(encoding, given.subarray(0, end), isFirst)
      isFirst = false
      if (!isText) return
    }
    yield decode(encoding ?? 'utf-8', rest, isFirst)
  }
  return { text: pieces(), isText: () => isText }
}

/** How many of the bytes are text: a character cut off at the end may still be completed. */
function soundLength(encoding: string, bytes: Uint8Array): number {
  let [sound, end] = [0, bytes.length]
  while (sound < end) {
    const middle = Math.ceil((sound + end) / 2)
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      sound = middle
    } catch {
      end = middle - 1
    }
  }
  return sound
}

/** How many of the bytes are whole characters, judged by their end. */
function wholeLength(encoding: string, bytes: Uint8Array): number {
  const { length } = bytes
  // One byte for each character.
  if (encoding === 'windows-1252') return length
  if (encoding !== 'utf-8') {
    const even = length - (length % 2)
    const high = bytes[encoding === 'utf-16le' ? even - 1 : even - 2] ?? 0
    return high >= 0xd8 && high < 0xdc ? even - 2 : even
  }
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return length
    // RFC 3629 §3: the first byte says how many there are.
    if (byte >= 0xc0)
      return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length
  }
  return length
}

/** The encoding by its byte order mark; without one the named encoding, or UTF-8. */
function encodingOf([first, second]: Uint8Array, named = 'utf-8'): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xef && second === 0xbb) return 'utf-8'
  return first === 0xfe && second === 0xff ? 'utf-16be' : named
}

/**
 * The text up to the end of the header, and whatever came with it; also the delimiter, and the line where it begins.
 */
async function beginningOf(text: AsyncGenerator<string>) {
  let beginning = await lineMore(text, '')
  // A line that tells spreadsheets the delimiter.
  const named = /^\s*"?sep=([^\r\n])"?[^\S\r\n]*(\r\n|\r|\n|$)/i.exec(beginning)
  if (named?.[1] === undefined) return { beginning, delimiter: delimiterIn(beginning), line: 1 }
  const line = 1 + lineEndsIn(named[0])
  beginning = await lineMore(text, beginning.slice(named[0].length))
  return { beginning, delimiter: named[1], line }
}

/** The text read so far, and more until it has a whole line. */
async function lineMore(text: AsyncGenerator<string>, read: string): Promise<string> {
  let beginning = read
  while (beginning.length < maxHeaderLength && !/[\r\n]/.test(beginning.trimStart())) {
    const { value, done } = await text.next()
    if (done) break
    beginning += value
  }
  return beginning
}

/** The delimiter that the header has most of, outside of quotes. */
function delimiterIn(beginning: string): string {
  const header = /^\s*([^\r\n]*)/.exec(beginning)?.[1] ?? ''
  const bare = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => bare.split(delimiter).length
  return [',', ';', '\t', '|'].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** The text in pieces, until `goOn` is false. */
async function* inPieces(beginning: string, text: AsyncGenerator<string>, goOn: () => boolean) {
  yield* cut(beginning)
  for await (const part of text) {
    for (const piece of cut(part)) {
      if (!goOn()) return
      yield piece
    }
  }
}

/** Pieces of a text, each of which is parsed without a pause. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + pieceLength, text.length)
    // The two halves of a character beyond U+FFFF must stay together.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++
    yield text.slice(at, end)
    at = end
  }
}
