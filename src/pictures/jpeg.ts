import { refuseInPieces } from './limits.js'
import type { CleanParts } from './parts.js'

const orientationTag = 0x0112

// Programs write some dozens, and one more for each 64 KB of extra data.
const maxSegments = 1_000
// A progressive picture has ten or twenty scans; each is painted over the whole picture.
const maxScans = 100

/**
 * A JPEG without what cameras write: places, times, names, previews (ITU-T T.81 Annex B). Beside the picture it keeps
 * its colours (JFIF, ICC, Adobe) and which way is up. Undefined: it is damaged.
 */
export function cleanJpeg(bytes: Buffer): CleanParts | undefined {
  const kept: Buffer[] = []
  let size: { width: number; height: number } | undefined
  let turned = 1
  let segments = 0
  let scans = 0
  for (let at = 2; ; ) {
    refuseInPieces(++segments, maxSegments)
    // T.81 §B.1.1.2: any number of 0xff may stand before a marker.
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1]
    if (bytes[at] !== 0xff || marker === undefined) return undefined
    // After the end a phone may have put another picture, or a film.
    if (marker === 0xd9) break
    const end = at + 2 + (at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : 0)
    if (end < at + 4 || end > bytes.length) return undefined
    const segment = bytes.subarray(at, end)
    if (isFrame(marker)) {
      // Where a file gives several sizes, programs differ: they take the first, the last, or the largest.
      if (size !== undefined || segment.length < 9) return undefined
      size = { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) }
    }
    if (marker === 0xe1) turned = orientationIn(segment) ?? turned
    const seen = seenOf(marker, segment)
    if (seen !== undefined) kept.push(seen)
    at = end
    if (marker === 0xda) {
      at = endOfScan(bytes, end)
      if (size === undefined || at === end) return undefined
      refuseInPieces(++scans, maxScans)
      kept.push(bytes.subarray(end, at))
      // Browsers show a file that ends within its last scan as far as it goes.
      if (at === bytes.length) break
    }
  }
  if (size === undefined || scans === 0) return undefined
  const parts = [Buffer.from([0xff, 0xd8]), ...turnedAs(turned), ...kept, Buffer.from([0xff, 0xd9])]
  const { width, height } = size
  return turned >= 5
    ? { parts, width: height, height: width, frames: 1 }
    : { parts, width, height, frames: 1 }
}

/** SOF0 to SOF15, but for the tables between them (DHT, JPG, DAC); and DHP, the size of a picture in several frames. */
const isFrame = (marker: number) =>
  marker === 0xde ||
  (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)

/** What is kept of a segment. Undefined: nothing, as for the other applications' segments and for comments. */
function seenOf(marker: number, segment: Buffer): Buffer | undefined {
  const begins = (word: string) => segment.toString('latin1', 4, 4 + word.length) === word
  if (marker === 0xe0) return begins('JFIF\0') ? jfifOf(segment) : undefined
  if (marker === 0xe2) return begins('ICC_PROFILE\0') ? segment : undefined
  // DNL gives the size later, for pictures that do not give it at first; those are refused.
  const isLeftOut = (marker >= 0xe1 && marker <= 0xef) || marker === 0xfe || marker === 0xdc
  if (marker === 0xee && begins('Adobe')) return cutTo(segment, 16)
  return isLeftOut ? undefined : segment
}

/** JFIF 1.02: 18 bytes, the last two of which are the size of a preview, and then the preview. */
function jfifOf(segment: Buffer): Buffer | undefined {
  const header = cutTo(segment, 18)
  header?.fill(0, 16)
  return header
}

/** A segment of the first bytes of a segment. Undefined: it has fewer. */
function cutTo(segment: Buffer, length: number): Buffer | undefined {
  if (segment.length < length) return undefined
  const cut = Buffer.from(segment.subarray(0, length))
  cut.writeUInt16BE(length - 2, 2)
  return cut
}

/**
 * Where the next marker stands: 0xff00 is a byte of the picture, and 0xffd0 to 0xffd7 are restart markers within it. It
 * looks byte by byte: in a file made of 0xff no search for the next one is quicker.
 */
function endOfScan(bytes: Buffer, from: number): number {
  const last = bytes.length - 1
  for (let at = from; at < last; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

/** Exif 2.32 §4.6.4: a TIFF within the segment, in the byte order that it names. Undefined: no orientation is given. */
function orientationIn(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 4, 10) !== 'Exif\0\0') return undefined
  const tiff = segment.subarray(10)
  if (tiff.length < 8) return undefined
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (first + 2 > tiff.length) return undefined
  const entries = short(first)
  for (let entry = 0; entry < entries; entry++) {
    const at = first + 2 + entry * 12
    if (at + 12 > tiff.length) return undefined
    if (short(at) !== orientationTag) continue
    const value = short(at + 8)
    return value >= 1 && value <= 8 ? value : undefined
  }
  return undefined
}

/** An Exif segment with the orientation alone: without it photos of phones would lie on their side. */
function turnedAs(orientation: number): Buffer[] {
  if (orientation === 1) return []
  const exif = Buffer.alloc(36)
  exif.set([0xff, 0xe1, 0, 34])
  exif.write('Exif\0\0MM\0*', 4, 'latin1')
  exif.writeUInt32BE(8, 14)
  exif.writeUInt16BE(1, 18)
  exif.writeUInt16BE(orientationTag, 20)
  // The value's type is a short, and there is one.
  exif.writeUInt16BE(3, 22)
  exif.writeUInt32BE(1, 24)
  exif.writeUInt16BE(orientation, 28)
  return [exif]
}
