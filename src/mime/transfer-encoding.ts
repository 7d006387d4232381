import { arePrintable, spaceBit, spacesAmong, wordsOf } from '../dkim/index.js'

export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64'

// RFC 5322 §2.1.1; RFC 2045 §2.7 holds 7bit data to the same.
const longestLine = 998

export interface EncodedText {
  encoding: TransferEncoding
  data: Buffer
  /** Known to be already in DKIM's relaxed form, before a line end (RFC 6376 §3.4.4). */
  isRelaxed: boolean
  /** A line of it begins with a dot, which SMTP has to double (RFC 5321 §4.5.2). */
  isDotted: boolean
}

/** Encodes text as the shortest of 7bit, quoted-printable and base64; its line ends become CRLF. */
export function encodePart(text: string): EncodedText {
  const { bytes, unsafe, isRelaxed, isDotted } = canonicalLines(text)
  if (!unsafe) return { encoding: '7bit', data: Buffer.from(bytes), isRelaxed, isDotted }
  const escaped = bytes.length + 2 * escapesIn(bytes)
  const quotedPrintableSize = escaped + (escaped / 75) * 3
  const base64Size = (bytes.length / 57) * 78
  return quotedPrintableSize <= base64Size
    ? {
        encoding: 'quoted-printable',
        data: encodeQuotedPrintable(bytes),
        isRelaxed: false,
        isDotted: false,
      }
    : { encoding: 'base64', data: encodeBase64(bytes), isRelaxed: true, isDotted: false }
}

/** How many octets become three in quoted-printable; not counting those that do so only at the end of a line. */
function escapesIn(bytes: Buffer): number {
  let escapes = 0
  for (let i = 0; i < bytes.length; i++) escapes += isEscaped[bytes[i] as number] as number
  return escapes
}

interface CanonicalLines {
  /** Lies in memory that the next call overwrites, unless it is long. */
  bytes: Buffer
  /**
   * 7bit cannot carry the bytes, because of an octet that is not printable ASCII, a line over 998 octets,
   * or a line that starts with `From ` (mbox writers put a `>` before it, which breaks the signature).
   */
  unsafe: boolean
  /** No tab, no two spaces in a row, no space at the end of a line. */
  isRelaxed: boolean
  isDotted: boolean
}

// Most texts fit: two allocations for each would cost more than the pass over it.
const usualBytes = 128 * 1024
const usualSource = Buffer.allocUnsafeSlow(usualBytes)
const usualLines = Buffer.allocUnsafeSlow(2 * usualBytes)

/**
 * The text in UTF-8, and what the encoder has to know of it. Every CR, LF and CRLF becomes CRLF: a signature over
 * anything else breaks on the way. One pass over the octets for all of it, as each costs as much as the hash; four at
 * a time where they are printable, which takes a third of the time (26 Nov 2026).
 */
function canonicalLines(text: string): CanonicalLines {
  const isUsual = text.length * 3 <= usualBytes
  const source = isUsual ? usualSource : Buffer.from(text)
  const size = isUsual ? source.write(text, 0, 'utf8') : source.length
  const out = isUsual ? usualLines : Buffer.allocUnsafe(2 * size)
  const [sourceWords, outWords] = isUsual ? usualWords : [wordsOf(source), wordsOf(out)]
  let unsafe = false
  let isRelaxed = true
  let isDotted = false
  let length = 0
  let lineStart = 0
  // Collected without a branch, which the processor would mispredict at every second word.
  let pairs = 0
  let isBehindSpace = 0
  for (let i = 0; i < size; ) {
    for (; i + 4 <= size; i += 4) {
      const four = sourceWords.getInt32(i, true)
      if (!arePrintable(four)) break
      const spaces = spacesAmong(four)
      pairs |= spaces & ((spaces << 8) | isBehindSpace)
      isBehindSpace = spaces >>> 24
      outWords.setInt32(length, four, true)
      length += 4
    }
    if (i === size) break
    const byte = source[i++] as number
    if (byte === cr || byte === lf) {
      pairs |= isBehindSpace
      if (!isSafeLine(out, lineStart, length)) unsafe = true
      if (length > lineStart && out[lineStart] === dot) isDotted = true
      out[length++] = cr
      out[length++] = lf
      lineStart = length
      if (byte === cr && source[i] === lf) i++
    } else {
      out[length++] = byte
      if (byte === tab) isRelaxed = false
      else if (byte === space) pairs |= isBehindSpace
      else if (graphic[byte] === 0 && byte !== equals) unsafe = true
    }
    isBehindSpace = byte === space ? spaceBit : 0
  }
  if (!isSafeLine(out, lineStart, length)) unsafe = true
  if (length > lineStart && out[lineStart] === dot) isDotted = true
  isRelaxed &&= (pairs | isBehindSpace) === 0
  return { bytes: out.subarray(0, length), unsafe, isRelaxed, isDotted }
}

const usualWords = [wordsOf(usualSource), wordsOf(usualLines)] as const

const space = 0x20
const tab = 0x09
const cr = 0x0d
const lf = 0x0a
const equals = 0x3d
const dot = 0x2e

/**
 * 1 for octets that may stay unencoded anywhere on a line (RFC 2045 §6.7 (2)): a table costs one
 * well-predicted branch.
 */
const graphic = new Uint8Array(256).fill(1, 0x21, 0x7f)
graphic[equals] = 0
/** 1 for octets that must be escaped everywhere. */
const isEscaped = graphic.map((stands, byte) =>
  stands === 1 || [space, tab, cr, lf].includes(byte) ? 0 : 1,
)

const from = Buffer.from('From ')

function isSafeLine(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > longestLine) return false
  return (
    bytes[start] !== from[0] || !bytes.subarray(start, end).subarray(0, from.length).equals(from)
  )
}

// RFC 2045 §6.8: lines of 76 characters, which 57 bytes fill.
const lineChars = 76

/** Base64 in lines, without a line end after the last. */
export function encodeBase64(bytes: Buffer): Buffer {
  const text = bytes.toString('base64')
  const encoded = Buffer.allocUnsafe(base64Size(bytes.length))
  for (let from = 0, at = 0; from < text.length; from += lineChars) {
    if (from > 0) at += encoded.write('\r\n', at, 'latin1')
    at += encoded.write(text.slice(from, from + lineChars), at, 'latin1')
  }
  return encoded
}

/** The length of this many bytes in base64. */
export function base64Size(bytes: number): number {
  const chars = Math.ceil(bytes / 3) * 4
  return chars + 2 * Math.max(0, Math.ceil(chars / lineChars) - 1)
}

// RFC 2045 §6.7 (5): at most 76 characters, of which the last may be the soft break's `=`.
const maxLine = 75

const hexDigits = Buffer.from('0123456789ABCDEF')

/** Quoted-printable (RFC 2045 §6.7) of text whose every line end is CRLF. */
function encodeQuotedPrintable(bytes: Buffer): Buffer {
  // Worst case: every octet takes three, and each 73 or more of those a soft break of three.
  const out = Buffer.allocUnsafe(Math.ceil(bytes.length * 3 * (76 / 73)) + 8)
  let length = 0
  let column = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    // Most octets are neither the first nor possibly the last of a line.
    if (graphic[byte] === 1 && column > 0 && column < maxLine) {
      out[length++] = byte
      column++
      continue
    }
    if (byte === cr && bytes[i + 1] === lf) {
      out[length++] = cr
      out[length++] = lf
      column = 0
      i++
      continue
    }
    const lineEnds = i + 1 === bytes.length || bytes[i + 1] === cr
    const blank = byte === space || byte === tab
    let escaped = blank ? lineEnds : graphic[byte] === 0
    const width = escaped ? 3 : 1
    // The last octet of a line may take the soft break's place.
    if (column + width > (lineEnds ? maxLine + 1 : maxLine)) {
      out[length++] = equals
      out[length++] = cr
      out[length++] = lf
      column = 0
    }
    // A dot alone would end the mail at a careless relay; `From ` is mangled by mbox writers.
    if (column === 0 && (byte === dot || byte === from[0])) escaped = true
    if (escaped) {
      out[length++] = equals
      out[length++] = hexDigits[byte >> 4] as number
      out[length++] = hexDigits[byte & 15] as number
      column += 3
    } else {
      out[length++] = byte
      column++
    }
  }
  return out.subarray(0, length)
}
