import { encodeBase64 } from './base64.js'
import { encodeQuotedPrintable } from './quoted-printable.js'

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
