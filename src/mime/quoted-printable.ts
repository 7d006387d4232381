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
export function encodeQuotedPrintable(bytes: Buffer): Buffer {
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
