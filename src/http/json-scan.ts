import { randomUUID } from 'node:crypto'

/** A JSON text without its long repeated strings, for `JSON.parse`. */
export interface Shortened {
  bytes: Buffer
  /** Puts the strings back into the parsed object or array; throws if one is no JSON. */
  restore(value: object): void
}

// Shorter strings are parsed faster than they are looked up.
const longBytes = 4 * 1_024
// How many strings of one length are remembered, which bounds the comparisons in a text of many nearly
// equal strings.
const maxOfLength = 8

/**
 * A long string, from its opening quote to after its closing one, and the places of its repeats.
 */
interface LongString {
  bytes: Buffer
  starts: number[]
}

/**
 * Counts the values of a JSON text by what comes before one: `,`, `[` or `{`; undefined for more than
 * `maxValues`. Repeats of long strings are left out: a batch whose mails all carry the same file is parsed
 * as if the file were given once, and all mails get one string. Text that is no JSON stays no JSON.
 */
export function scanJson(text: Buffer, maxValues: number): Shortened | undefined {
  const seen = new Map<number, LongString[]>()
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte === comma || byte === bracket || byte === brace) values++
    if (values > maxValues) return undefined
    if (byte !== quote) continue
    const start = at
    at = stringEnd(text, at)
    const end = at + 1
    // Without an end it is no string; before a `:` it is a name.
    if (end - start < longBytes || end > text.length || isName(text, end)) continue
    remember(seen, text.subarray(start, end), start)
  }
  return shorten(text, [...seen.values()].flat())
}

// The part in which long strings are looked for: the first mail or two of a batch.
const probedBytes = 64 * 1_024
const maxProbed = 4

/**
 * Leaves out later repeats of long strings in the text's beginning, which a native search finds: a batch may carry one
 * text to a hundred people. The search does not know where strings begin, and may take the text between two strings
 * for one; then the rest is no JSON although the whole is.
 */
export function withoutRepeats(text: Buffer): Shortened {
  const strings: LongString[] = []
  let at = text.indexOf(quote)
  while (at !== -1 && at < probedBytes && strings.length < maxProbed) {
    const end = stringEnd(text, at) + 1
    if (end - at >= longBytes && end <= text.length && !isName(text, end)) {
      const bytes = text.subarray(at, end)
      if (!strings.some((one) => one.bytes.equals(bytes))) strings.push(found(text, bytes, at))
    }
    at = text.indexOf(quote, end)
  }
  return shorten(text, strings)
}

// A search for a longer text may take its length times the text's.
const keyBytes = 64
// Bounds useless finds: each mail of a batch may begin alike and differ later, and in a million times `\"` each second
// octet begins like the first.
const maxInVain = 1_000

function found(text: Buffer, bytes: Buffer, first: number): LongString {
  const key = bytes.subarray(0, keyBytes)
  const starts: number[] = []
  let inVain = 0
  for (let at = first; at !== -1 && inVain < maxInVain; at = text.indexOf(key, at)) {
    const end = at + bytes.length
    // An escaped quote begins no string. Compared text is read only once, as a string has no bare quote inside.
    const isThere =
      text[at - 1] !== backslash &&
      end <= text.length &&
      text.compare(bytes, 0, bytes.length, at, end) === 0 &&
      !isName(text, end)
    if (isThere) starts.push(at)
    else inVain++
    at = isThere ? end : at + 1
  }
  return { bytes, starts }
}

const [quote = 0, backslash, comma, bracket, brace, colon] = Buffer.from('"\\,[{:')
const spaces: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\r\n'))

function isName(text: Buffer, end: number): boolean {
  let next = end
  while (spaces.has(text[next])) next++
  return text[next] === colon
}

function remember(seen: Map<number, LongString[]>, bytes: Buffer, start: number): void {
  const alike = seen.get(bytes.length)
  const same = alike?.find((one) => one.bytes.equals(bytes))
  if (same !== undefined) same.starts.push(start)
  else if (alike === undefined) seen.set(bytes.length, [{ bytes, starts: [start] }])
  else if (alike.length < maxOfLength) alike.push({ bytes, starts: [start] })
}

function shorten(text: Buffer, strings: readonly LongString[]): Shortened {
  const repeated = strings.filter(({ starts }) => starts.length > 1)
  if (repeated.length === 0) return { bytes: text, restore: () => {} }
  // No client can guess the mark, so no client's text can be taken for a place.
  const mark = randomUUID()
  const places = repeated.flatMap(({ bytes, starts }, number) =>
    starts.map((start) => ({ start, end: start + bytes.length, number })),
  )
  places.sort((a, b) => a.start - b.start)
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, end, number } of places) {
    if (start < from) continue
    pieces.push(text.subarray(from, start), Buffer.from(`"${mark}${number}"`))
    from = end
  }
  pieces.push(text.subarray(from))
  return {
    bytes: Buffer.concat(pieces),
    restore(value) {
      const originals = repeated.map(({ bytes }) => JSON.parse(bytes.toString('utf8')) as string)
      putBack(value, (string) =>
        string.startsWith(mark) ? originals[Number(string.slice(mark.length))] : undefined,
      )
    },
  }
}

/** Without recursion: a body may be nested deeper than the stack. */
function putBack(value: object, originalOf: (string: string) => string | undefined): void {
  const left = [value as Record<string, unknown>]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    for (const name of Object.keys(one)) {
      const inner = one[name]
      if (typeof inner === 'object' && inner !== null) left.push(inner as Record<string, unknown>)
      const original = typeof inner === 'string' ? originalOf(inner) : undefined
      if (original !== undefined) one[name] = original
    }
  }
}

// A file in base64 is one string of megabytes, which a native search passes in no time; between close
// quotes its calls would take longer than a loop.
const plainRun = 1_024

function stringEnd(bytes: Buffer, start: number): number {
  let plainFrom = start + 1
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) return at
    if (byte === backslash) plainFrom = ++at + 1
    else if (at - plainFrom === plainRun) {
      const next = bytes.indexOf(quote, at)
      if (next === -1) return bytes.length
      let before = next - 1
      while (bytes[before] === backslash) before--
      // An odd number of backslashes escapes the quote; after an even number it ends the string.
      if ((next - before) % 2 === 1) return next
      at = next
      plainFrom = next + 1
    }
  }
  return bytes.length
}
