/**
 * RFC 2047 encoded-words for text that a header cannot hold unencoded, each of at most 64
 * characters, so that the first fits on the line of its field name (RFC 2047 §2: 76 a line). A code
 * point is never split. Decoders join neighbouring words without a space between.
 */
export function encodedWords(text: string): string[] {
  const bytes = Buffer.from(text)
  let escapes = 0
  for (const byte of bytes) if (byte !== 0x20 && !isWordByte(byte)) escapes++
  const [prefix, encode, room] =
    bytes.length + 2 * escapes <= Math.ceil(bytes.length / 3) * 4
      ? (['=?UTF-8?Q?', encodeQ, fitsQ] as const)
      : (['=?UTF-8?B?', encodeB, fitsB] as const)
  const words: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = charBoundary(bytes, start + room(bytes.subarray(start)))
    words.push(`${prefix}${encode(bytes.subarray(start, end))}?=`)
    start = end
  }
  return words
}

/** Text that looks like an encoded-word must itself be encoded. */
export function looksEncoded(text: string): boolean {
  return text.includes('=?')
}

// 64 characters less the 12 of `=?UTF-8?Q?` and `?=`.
const maxEncoded = 52

function fitsB(): number {
  return (maxEncoded / 4) * 3
}

function fitsQ(bytes: Buffer): number {
  let length = 0
  let i = 0
  for (; i < bytes.length; i++) {
    length += bytes[i] === 0x20 || isWordByte(bytes[i] ?? 0) ? 1 : 3
    if (length > maxEncoded) break
  }
  return i
}

/** The last place at or before `end` where a code point starts. */
function charBoundary(bytes: Buffer, end: number): number {
  if (end >= bytes.length) return bytes.length
  let i = end
  while (((bytes[i] ?? 0) & 0xc0) === 0x80) i--
  return i
}

function encodeB(bytes: Buffer): string {
  return bytes.toString('base64')
}

function encodeQ(bytes: Buffer): string {
  let word = ''
  for (const byte of bytes) {
    if (byte === 0x20) word += '_'
    else if (isWordByte(byte)) word += String.fromCharCode(byte)
    else word += `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return word
}

/** RFC 2047 §5 (3): what may stay unencoded even in a display name. */
function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x21 ||
    byte === 0x2a ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2f
  )
}
