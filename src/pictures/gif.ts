import type { CleanParts } from './parts.js'

/** A GIF without comments and what programs add, but how often it repeats (GIF89a §17 to §27). Undefined: it is damaged. */
export function cleanGif(bytes: Buffer): CleanParts | undefined {
  if (bytes.length < 13) return undefined
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  let at = 13 + tableBytes(bytes[10])
  const parts = [bytes.subarray(0, at)]
  while (at < bytes.length) {
    const introducer = bytes[at]
    if (introducer === 0x3b) return { parts: [...parts, bytes.subarray(at, at + 1)], ...size }
    if (introducer === 0x21) {
      const end = endOfBlocks(bytes, at + 2)
      if (end === undefined) return undefined
      if (isKept(bytes, at)) parts.push(bytes.subarray(at, end))
      at = end
    } else if (introducer === 0x2c) {
      const end = endOfBlocks(bytes, at + 11 + tableBytes(bytes[at + 9]))
      if (end === undefined) return undefined
      parts.push(bytes.subarray(at, end))
      at = end
    } else return undefined
  }
  return undefined
}

/** Of a table of colours, by the byte that says whether there is one. */
const tableBytes = (packed = 0) => ((packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1))

/** Behind a row of blocks, each of which begins with its length; the last has none. */
function endOfBlocks(bytes: Buffer, from: number): number | undefined {
  for (let at = from; ; ) {
    const length = bytes[at]
    if (length === undefined) return undefined
    at += 1 + length
    if (length === 0) return at
  }
}

/** Graphic control and plain text are shown; of applications' own the one that says how often it repeats. */
function isKept(bytes: Buffer, at: number): boolean {
  const label = bytes[at + 1]
  if (label === 0xff) {
    return ['NETSCAPE2.0', 'ANIMEXTS1.0'].includes(bytes.toString('latin1', at + 3, at + 14))
  }
  return label === 0xf9 || label === 0x01
}
