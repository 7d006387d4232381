import { refuseInPieces, refuseTooLarge } from './limits.js'
import type { CleanParts } from './parts.js'

interface Size {
  width: number
  height: number
}

interface Chunk {
  type: string
  /** With its type and length, and the padding byte after an odd length. */
  bytes: Buffer
}

const shown = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])

// RFC 9649 §2.7.1.1: a frame has no chunk that belongs to the whole picture.
const shownInFrame = new Set(['VP8 ', 'VP8L', 'ALPH'])

// RFC 9649 §2.7: the flags of the file that say that it has Exif and XMP.
const saysMore = 0x08 | 0x04

// A frame's header, after the type and length of its chunk: its place, its size, how long it is shown.
const frameHeader = 24

/** A WebP without Exif, XMP and unknown chunks (RFC 9649 §2.3). Undefined: it is damaged. */
export function cleanWebp(bytes: Buffer): CleanParts | undefined {
  const count = { pieces: 0 }
  const chunks = chunksIn(bytes, 12, count)
  const first = chunks?.[0]
  const size = first && sizeIn(first)
  if (chunks === undefined || size === undefined) return undefined
  const kept: Buffer[] = []
  let frames = 0
  let images = 0
  for (const chunk of chunks) {
    if (!shown.has(chunk.type)) continue
    if (chunk.type === 'ANMF') {
      refuseTooLarge(size.width, size.height, ++frames)
      const frame = cleanFrame(chunk.bytes, size, count)
      if (frame === undefined) return undefined
      kept.push(frame)
      continue
    }
    // Of several sizes programs take the first one, or the last.
    if (chunk.type === 'VP8X' && chunk !== first) return undefined
    if (isImage(chunk) && (++images > 1 || !isAsLarge(chunk, size))) return undefined
    kept.push(chunk.type === 'VP8X' ? withoutMore(chunk.bytes) : chunk.bytes)
  }
  if (images + frames === 0) return undefined
  const riff = Buffer.from(bytes.subarray(0, 12))
  riff.writeUInt32LE(4 + lengthOf(kept), 4)
  return { parts: [riff, ...kept], ...size, frames: Math.max(1, frames) }
}

/** The chunks of a file or frame. Undefined: one of them goes beyond the end. */
function chunksIn(bytes: Buffer, from: number, count: { pieces: number }): Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = from; at + 8 <= bytes.length; ) {
    refuseInPieces(++count.pieces)
    const length = bytes.readUInt32LE(at + 4)
    if (at + 8 + length > bytes.length) return undefined
    // At the end some programs leave out the byte after an odd length.
    const end = at + 8 + length + (length % 2)
    chunks.push({ type: bytes.toString('latin1', at, at + 4), bytes: bytes.subarray(at, end) })
    at = end
  }
  return chunks
}

/**
 * A frame of a moving picture. It must have the size that it gives, lie within the whole, and have nothing beside its
 * image.
 */
function cleanFrame(bytes: Buffer, whole: Size, count: { pieces: number }): Buffer | undefined {
  if (bytes.length < frameHeader) return undefined
  const [x, y] = [bytes.readUIntLE(8, 3) * 2, bytes.readUIntLE(11, 3) * 2]
  const [width, height] = [bytes.readUIntLE(14, 3) + 1, bytes.readUIntLE(17, 3) + 1]
  if (x + width > whole.width || y + height > whole.height) return undefined
  const chunks = chunksIn(bytes, frameHeader, count)?.filter(({ type }) => shownInFrame.has(type))
  const images = chunks?.filter(isImage) ?? []
  const [image] = images
  if (chunks === undefined || image === undefined || images.length > 1) return undefined
  if (!isAsLarge(image, { width, height })) return undefined
  const kept = chunks.map((chunk) => chunk.bytes)
  const header = Buffer.from(bytes.subarray(0, frameHeader))
  header.writeUInt32LE(frameHeader - 8 + lengthOf(kept), 4)
  return Buffer.concat([header, ...kept])
}

const lengthOf = (kept: Buffer[]) => kept.reduce((sum, { length }) => sum + length, 0)

const isImage = ({ type }: Chunk) => type === 'VP8 ' || type === 'VP8L'

function isAsLarge(image: Chunk, { width, height }: Size): boolean {
  const own = sizeIn(image)
  return own?.width === width && own.height === height
}

function withoutMore(head: Buffer): Buffer {
  const changed = Buffer.from(head)
  changed[8] = (changed[8] ?? 0) & ~saysMore
  return changed
}

/** The size of the whole picture, or of an image. Undefined: it is not given as it should be. */
function sizeIn({ type, bytes }: Chunk): Size | undefined {
  if (type === 'VP8X' && bytes.length >= 18) {
    return { width: bytes.readUIntLE(12, 3) + 1, height: bytes.readUIntLE(15, 3) + 1 }
  }
  // RFC 6386 §9.1: 14 bits each, after the frame's tag and its start code.
  if (type === 'VP8 ' && bytes.length >= 18 && bytes.readUIntBE(11, 3) === 0x9d012a) {
    return { width: bytes.readUInt16LE(14) & 0x3fff, height: bytes.readUInt16LE(16) & 0x3fff }
  }
  if (type === 'VP8L' && bytes.length >= 13 && bytes[8] === 0x2f) {
    const bits = bytes.readUInt32LE(9)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  return undefined
}
