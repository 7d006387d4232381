import { refuseInPieces, refuseTooLarge } from './limits.js'
import type { CleanParts } from './parts.js'

// How many blocks one frame may have: programs fill them with 255 bytes each.
const maxBlocks = 100_000

/**
 * A GIF without comments and programs' additions, except how often it repeats (GIF89a §17 to §27). Undefined: it is
 * damaged.
 */
export function cleanGif(bytes: Buffer): CleanParts | undefined {
  if (bytes.length < 13) return undefined
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  let at = 13 + tableBytes(bytes[10])
  const parts = [bytes.subarray(0, at)]
  // Some programs make the screen as large as its frames reach.
  let { width, height } = size
  let frames = 0
  for (let pieces = 1; at < bytes.length; pieces++) {
    refuseInPieces(pieces)
    const introducer = bytes[at]
    if (introducer === 0x3b && frames > 0) {
      return { parts: [...parts, bytes.subarray(at, at + 1)], ...size, frames }
    }
    if (introducer === 0x21) {
      const end = endOfBlocks(bytes, at + 2)
      if (end === undefined) return undefined
      if (isKept(bytes, at)) parts.push(bytes.subarray(at, end))
      at = end
    } else if (introducer === 0x2c && at + 10 <= bytes.length) {
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5))
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7))
      frames++
      refuseTooLarge(width, height, frames)
      const end = endOfBlocks(bytes, at + 11 + tableBytes(bytes[at + 9]))
      if (end === undefined) return undefined
      parts.push(bytes.subarray(at, end))
      at = end
    } else return undefined
  }
  return undefined
}

/** The size of a colour table, by the byte that says whether there is one. */
const tableBytes = (packed = 0) => ((packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1))

/**
 * The place after a row of blocks, each of which begins with its length; the last is empty. Throws a 422 for too many.
 */
function endOfBlocks(bytes: Buffer, from: number): number | undefined {
  let blocks = 0
  for (let at = from; ; ) {
    const length = bytes[at]
    if (length === undefined) return undefined
    refuseInPieces(++blocks, maxBlocks)
    at += 1 + length
    if (length === 0) return at
  }
}

/** Graphic control and plain text are shown; of the applications' blocks only the number of repeats is kept. */
function isKept(bytes: Buffer, at: number): boolean {
  const label = bytes[at + 1]
  if (label === 0xff) {
    return ['NETSCAPE2.0', 'ANIMEXTS1.0'].includes(bytes.toString('latin1', at + 3, at + 14))
  }
  return label === 0xf9 || label === 0x01
}
