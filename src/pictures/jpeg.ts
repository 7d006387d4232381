import type { CleanParts } from './parts.js'

const orientationTag = 0x0112

/**
 * A JPEG without what cameras write: places, times, names, previews (ITU-T T.81 Annex B). What is kept beside the picture
 * is its colours (JFIF, ICC, Adobe) and which way is up. Undefined: it is damaged.
 */
export function cleanJpeg(bytes: Buffer): CleanParts | undefined {
  const kept: Buffer[] = []
  let size: { width: number; height: number } | undefined
  let turned = 1
  for (let at = 2; ; ) {
    // T.81 §B.1.1.2: any number of 0xff may stand before a marker.
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1]
    if (bytes[at] !== 0xff || marker === undefined) return undefined
    // What stands behind the end is another picture, or the film of a phone.
    if (marker === 0xd9) break
    const end = at + 2 + (at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : 0)
    if (end < at + 4 || end > bytes.length) return undefined
    const segment = bytes.subarray(at, end)
    if (isFrame(marker)) {
      if (segment.length < 9) return undefined
      size = { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) }
    }
    if (marker === 0xe1) turned = orientationIn(segment) ?? turned
    if (isKept(marker, segment)) kept.push(segment)
    at = end
    if (marker === 0xda) {
      at = endOfScan(bytes, end)
      kept.push(bytes.subarray(end, at))
      // A file that ends within its last scan is shown by browsers as far as it goes.
      if (at === bytes.length) break
    }
  }
  if (size === undefined) return undefined
  const parts = [Buffer.from([0xff, 0xd8]), ...turnedAs(turned), ...kept, Buffer.from([0xff, 0xd9])]
  return turned >= 5 ? { parts, width: size.height, height: size.width } : { parts, ...size }
}

/** SOF0 to SOF15: all between but tables (DHT, JPG, DAC). */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

function isKept(marker: number, segment: Buffer): boolean {
  const begins = (word: string) => segment.toString('latin1', 4, 4 + word.length) === word
  if (marker === 0xe0) return begins('JFIF\0')
  if (marker === 0xe2) return begins('ICC_PROFILE\0')
  if (marker === 0xee) return begins('Adobe')
  // The other applications' segments, and comments.
  return !((marker >= 0xe1 && marker <= 0xef) || marker === 0xfe)
}

/** Where the next marker stands: 0xff00 is a byte of the picture, 0xffd0 to 0xffd7 begin it anew. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1]
    if (next === undefined) break
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

/** Exif 2.32 §4.6.4: a TIFF within the segment, in the byte order that it names. Undefined: it does not say it. */
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

/** Which way is up, alone: photos of phones would lie on their side without it. */
function turnedAs(orientation: number): Buffer[] {
  if (orientation === 1) return []
  const exif = Buffer.alloc(36)
  exif.set([0xff, 0xe1, 0, 34])
  exif.write('Exif\0\0MM\0*', 4, 'latin1')
  exif.writeUInt32BE(8, 14)
  exif.writeUInt16BE(1, 18)
  exif.writeUInt16BE(orientationTag, 20)
  // A short, one of them.
  exif.writeUInt16BE(3, 22)
  exif.writeUInt32BE(1, 24)
  exif.writeUInt16BE(orientation, 28)
  return [exif]
}
