import { Readable } from 'node:stream'
import { crc32, createInflate } from 'node:zlib'
import { type CleanPicture, readPicture } from './clean.js'
import { damagedPicture } from './limits.js'

/**
 * The picture in a file, checked more closely than by `readPicture`: the sums of a PNG's chunks, and whether it has as
 * many rows as it says. A thread of zlib's unpacks the rows, which are thrown away. Throws a 422.
 */
export async function wholePicture(bytes: Buffer): Promise<CleanPicture> {
  const picture = readPicture(bytes)
  if (picture.contentType === 'image/png') await refuseDamagedPng(picture.bytes)
  return picture
}

async function refuseDamagedPng(bytes: Buffer): Promise<void> {
  const data: Buffer[] = []
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const end = at + 8 + length
    // PNG, third edition, §5.5: the sum of the type and the data.
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw damagedPicture()
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(bytes.subarray(at + 8, end))
    at = end + 4
  }
  const wanted = bytesOfRows(bytes)
  if (wanted === undefined || (await unpackedBytes(data, wanted)) !== wanted) {
    throw damagedPicture()
  }
}

/** How many bytes the data unpack to, counted until they are more than wanted; undefined where they are damaged. */
async function unpackedBytes(data: Buffer[], most: number): Promise<number | undefined> {
  let size = 0
  const unpacked = Readable.from(data).pipe(createInflate({ chunkSize: 256 * 1024 }))
  try {
    for await (const part of unpacked) {
      size += (part as Buffer).length
      if (size > most) return size
    }
    return size
  } catch {
    return undefined
  }
}

// §11.2.1: samples of a pixel by the colour type.
const samplesOf = new Map([
  [0, 1],
  [2, 3],
  [3, 1],
  [4, 2],
  [6, 4],
])
// §8.1: where the passes of Adam7 begin, and how far apart their pixels are.
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** How many bytes the rows of a PNG take, each with its filter byte; undefined for an unknown colour type. */
function bytesOfRows(bytes: Buffer): number | undefined {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const samples = samplesOf.get(bytes.readUInt8(25))
  if (samples === undefined) return undefined
  const bits = samples * bytes.readUInt8(24)
  const rows = (across: number, down: number) =>
    across > 0 && down > 0 ? down * (1 + Math.ceil((across * bits) / 8)) : 0
  if (bytes.readUInt8(28) === 0) return rows(width, height)
  return passes.reduce(
    (sum, [x, y, dx, dy]) => sum + rows(Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)),
    0,
  )
}
