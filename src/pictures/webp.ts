import type { CleanParts } from './parts.js'

const shown = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])

// RFC 9649 §2.7: the flags of the file that say that it has Exif and XMP.
const saysMore = 0x08 | 0x04

/** A WebP without Exif, XMP and chunks that nobody knows (RFC 9649 §2.3). Undefined: it is damaged. */
export function cleanWebp(bytes: Buffer): CleanParts | undefined {
  const kept: Buffer[] = []
  let size: { width: number; height: number } | undefined
  for (let at = 12; at + 8 <= bytes.length; ) {
    const type = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    // A chunk of an odd length has a byte behind it, which some programs leave out at the end.
    const end = at + 8 + length + (length % 2)
    if (at + 8 + length > bytes.length) return undefined
    const chunk = Buffer.from(bytes.subarray(at, end))
    size ??= sizeIn(type, chunk)
    if (type === 'VP8X' && length >= 10) chunk[8] = (chunk[8] ?? 0) & ~saysMore
    if (shown.has(type)) kept.push(chunk)
    at = end
  }
  if (size === undefined) return undefined
  const riff = Buffer.from(bytes.subarray(0, 12))
  riff.writeUInt32LE(
    kept.reduce((sum, { length }) => sum + length, 4),
    4,
  )
  return { parts: [riff, ...kept], ...size }
}

/** By the first chunk that says it. */
function sizeIn(type: string, chunk: Buffer): { width: number; height: number } | undefined {
  if (type === 'VP8X' && chunk.length >= 18) {
    return { width: chunk.readUIntLE(12, 3) + 1, height: chunk.readUIntLE(15, 3) + 1 }
  }
  // RFC 6386 §9.1: 14 bits each, behind the frame's tag and its start code.
  if (type === 'VP8 ' && chunk.length >= 18) {
    return { width: chunk.readUInt16LE(14) & 0x3fff, height: chunk.readUInt16LE(16) & 0x3fff }
  }
  if (type === 'VP8L' && chunk.length >= 13) {
    const bits = chunk.readUInt32LE(9)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  return undefined
}
