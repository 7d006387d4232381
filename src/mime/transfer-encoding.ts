export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64'

// RFC 5322 §2.1.1; RFC 2045 §2.7 holds 7bit data to the same.
const longestLine = 998

/** Encodes text as the shortest of 7bit, quoted-printable and base64; its line ends become CRLF. */
export function encodePart(text: string): { encoding: TransferEncoding; data: Buffer } {
  const bytes = Buffer.from(canonicalLines(text))
  const { unsafe, escapes } = survey(bytes)
  if (!unsafe) return { encoding: '7bit', data: bytes }
  const escaped = bytes.length + 2 * escapes
  const quotedPrintableSize = escaped + (escaped / 75) * 3
  const base64Size = (bytes.length / 57) * 78
  return quotedPrintableSize <= base64Size
    ? { encoding: 'quoted-printable', data: encodeQuotedPrintable(bytes) }
    : { encoding: 'base64', data: encodeBase64(bytes) }
}

/** Every CR, LF and CRLF becomes CRLF: a signature over anything else breaks on the way. */
function canonicalLines(text: string): string {
  if (!text.includes('\r')) return text.replaceAll('\n', '\r\n')
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? text.replace(/\r\n?|\n/g, '\r\n') : text
}

/**
 * One pass over the bytes. `unsafe`: 7bit cannot carry them, because of an octet that is not
 * printable ASCII, a line over 998 octets, or a line that starts with `From ` (mbox writers
 * put a `>` before it, which breaks the signature). `escapes`: octets that take three in
 * quoted-printable.
 */
function survey(bytes: Buffer): { unsafe: boolean; escapes: number } {
  let unsafe = false
  let escapes = 0
  let lineStart = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (plain[byte] === 1) continue
    if (byte === 0x0a) {
      if (i - 1 - lineStart > longestLine || startsFrom(bytes, lineStart)) unsafe = true
      lineStart = i + 1
    } else if (byte === 0x3d) {
      escapes++
    } else {
      unsafe = true
      escapes++
    }
  }
  if (bytes.length - lineStart > longestLine || startsFrom(bytes, lineStart)) unsafe = true
  return { unsafe, escapes }
}

/** 1 for what every encoding but base64 carries as it is: a table costs one well-guessed branch. */
const plain = new Uint8Array(256).fill(1, 0x20, 0x7f)
plain[0x3d] = 0
plain[0x09] = 1
plain[0x0d] = 1

const from = Buffer.from('From ')

function startsFrom(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x46 && bytes.subarray(at, at + from.length).equals(from)
}

// RFC 2045 §6.8: lines of 76, which 57 bytes fill.
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

/** How long so many bytes get. */
export function base64Size(bytes: number): number {
  const chars = Math.ceil(bytes / 3) * 4
  return chars + 2 * Math.max(0, Math.ceil(chars / lineChars) - 1)
}

// RFC 2045 §6.7 (5): at most 76 characters, of which the last may be the soft break's `=`.
const maxLine = 75

const space = 0x20
const tab = 0x09
const cr = 0x0d
const lf = 0x0a
const equals = 0x3d

/** 1 for what may stand for itself anywhere on a line (RFC 2045 §6.7 (2)). */
const literal = new Uint8Array(256).fill(1, 0x21, 0x7f)
literal[equals] = 0
const hexDigits = Buffer.from('0123456789ABCDEF')

/** Quoted-printable (RFC 2045 §6.7) of text whose every line end is CRLF. */
function encodeQuotedPrintable(bytes: Buffer): Buffer {
  // Worst case: every octet takes three, and each 73 or more of those a soft break of three.
  const out = Buffer.allocUnsafe(Math.ceil(bytes.length * 3 * (76 / 73)) + 8)
  let length = 0
  let column = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    // Most octets: neither the first nor perhaps the last of a line.
    if (literal[byte] === 1 && column > 0 && column < maxLine) {
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
    let escaped = blank ? lineEnds : literal[byte] === 0
    const width = escaped ? 3 : 1
    // The last octet of a line may take the place that a soft break would.
    if (column + width > (lineEnds ? maxLine + 1 : maxLine)) {
      out[length++] = equals
      out[length++] = cr
      out[length++] = lf
      column = 0
    }
    // A dot alone would end the mail at a careless relay; `From ` is mangled by mbox writers.
    if (column === 0 && (byte === 0x2e || byte === 0x46)) escaped = true
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
