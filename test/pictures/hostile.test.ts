import t from 'tap'
import { maxPictureBytes, readPicture } from '../../src/pictures/index.js'
import { gif, jpeg, png, pngChunk, riff, segment, webp } from './samples.js'

const damaged = /^The picture is damaged/
const refused = (t: Tap, bytes: Buffer, message: RegExp, what: string) =>
  t.throws(() => readPicture(bytes), { status: 422, fields: { field: 'content' }, message }, what)
type Tap = Pick<typeof t, 'throws'>

const le16 = (n: number) => Buffer.from([n & 255, n >>> 8])
const le24 = (n: number) => Buffer.from([n & 255, (n >>> 8) & 255, n >>> 16])
const many = (count: number, one: Buffer) => Buffer.alloc(count * one.length, one)

const gifOf = (side: number, ...blocks: Buffer[]) =>
  Buffer.concat([
    Buffer.from('GIF89a'),
    ...[side, side].map(le16),
    Buffer.alloc(3),
    ...blocks,
    Buffer.from([0x3b]),
  ])
const gifFrame = (side: number, at = 0) =>
  Buffer.concat([
    Buffer.from([0x2c]),
    ...[at, at, side, side].map(le16),
    Buffer.from([0, 2, 2, 0x44, 1, 0]),
  ])

/** The chunks of a sample up to its data, more, and the end. */
const pngOf = (...chunks: Buffer[]) =>
  Buffer.concat([png().subarray(0, 33), ...chunks, pngChunk('IEND', Buffer.alloc(0))])
const data = pngChunk('IDAT', Buffer.from([1]))
const control = (width: number, height: number) => {
  const bytes = Buffer.alloc(26)
  bytes.writeUInt32BE(width, 4)
  bytes.writeUInt32BE(height, 8)
  return pngChunk('fcTL', bytes)
}

const frameHeader = (width: number, height: number) =>
  segment(0xc0, Buffer.from([8, height >>> 8, height & 255, width >>> 8, width & 255, 1, 1, 17, 0]))
const scan = Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from([1, 2])])
const jpegOf = (...segments: Buffer[]) =>
  Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, Buffer.from([0xff, 0xd9])])

const webpOf = (...chunks: Buffer[]) =>
  riff('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]))
const canvas = (side: number, flags = 2) =>
  riff('VP8X', Buffer.concat([Buffer.from([flags, 0, 0, 0]), le24(side - 1), le24(side - 1)]))
const lossless = (side: number) => {
  const bytes = Buffer.alloc(6, 0x2f)
  bytes.writeUInt32LE((side - 1) | ((side - 1) << 14), 1)
  return riff('VP8L', bytes)
}
const webpFrame = (side: number, ...chunks: Buffer[]) => {
  const size = [0, 0, side - 1, side - 1, 100].map(le24)
  return riff('ANMF', Buffer.concat([...size, Buffer.from([0]), ...chunks]))
}

t.test('no part of a picture is larger than the whole may be', async (t) => {
  refused(t, gifOf(1, gifFrame(0xffff)), /65535 × 65535 pixels/, 'a frame larger than the screen')
  refused(t, gifOf(1, gifFrame(2, 0xfff0)), /65522 × 65522/, 'a frame far beyond the screen')
  const size = png(60_000, 60_000).subarray(8, 33)
  refused(t, pngOf(size, data), damaged, 'a second size of a PNG')
  refused(t, pngOf(control(4, 2), data), damaged, 'a frame of a PNG larger than it')
  const two = [frameHeader(65_500, 65_500), frameHeader(10, 10)]
  refused(t, jpegOf(...two, scan), damaged, 'two sizes of a JPEG')
  refused(t, jpegOf(...two.reverse(), scan), damaged, 'in either order')
  refused(t, webpOf(canvas(4), webpFrame(5, lossless(5))), damaged, 'a frame beyond the canvas')
  refused(t, webpOf(canvas(4), webpFrame(4, lossless(9_999))), damaged, 'an image beyond its frame')
  refused(t, webpOf(canvas(4, 0), lossless(9_999)), damaged, 'an image beyond the canvas')
  refused(t, webpOf(canvas(4), canvas(16_000), lossless(4)), damaged, 'a second canvas')
  refused(t, webpOf(lossless(4), lossless(9_999)), damaged, 'a second image')
})

t.test('a moving picture has a bounded number of frames, and of pixels in them', async (t) => {
  t.match(readPicture(gifOf(500, many(1_000, gifFrame(500)))), { width: 500, height: 500 })
  const moving = readPicture(webpOf(canvas(4), many(3, webpFrame(4, lossless(4)))))
  t.match(moving, { width: 4, height: 4 })
  t.match(readPicture(pngOf(control(3, 2), data, control(3, 2))), { width: 3, height: 2 })
  const frames = /more than 1000 frames/
  refused(t, gifOf(1, many(1_001, gifFrame(1))), frames, 'GIF')
  refused(t, pngOf(data, many(1_001, control(1, 1))), frames, 'PNG')
  refused(t, webpOf(canvas(4), many(1_001, webpFrame(4, lossless(4)))), frames, 'WebP')
  refused(t, gifOf(5_000, many(11, gifFrame(1))), /more than 250 million pixels/, 'large frames')
})

t.test('a file of very many pieces is refused before it takes long', async (t) => {
  const pieces = /in more than [\d]+ pieces/
  const files: Record<string, [Buffer, RegExp]> = {
    'empty data of a PNG': [pngOf(many(430_000, pngChunk('IDAT', Buffer.alloc(0)))), damaged],
    'data of a PNG': [pngOf(many(400_000, data)), pieces],
    'frames of a GIF': [gifOf(5_000, many(340_000, gifFrame(5_000))), /250 million/],
    'comments of a GIF': [gifOf(1, many(1_700_000, Buffer.from([0x21, 0xfe, 0]))), pieces],
    'blocks of a GIF': [
      gifOf(1, Buffer.from([0x21, 0xfe]), many(2_600_000, Buffer.from([1, 0x3b]))),
      pieces,
    ],
    'segments of a JPEG': [jpegOf(many(1_300_000, segment(0xfe, Buffer.alloc(0)))), pieces],
    'scans of a JPEG': [jpegOf(frameHeader(9, 9), many(300_000, scan)), pieces],
    'chunks of a WebP': [webpOf(canvas(4), many(650_000, riff('EXIF', Buffer.alloc(0)))), pieces],
    'chunks of a frame': [
      webpOf(canvas(4), webpFrame(4, many(650_000, riff('EXIF', Buffer.alloc(0))))),
      pieces,
    ],
  }
  for (const [what, [bytes, message]] of Object.entries(files)) {
    t.ok(bytes.length > maxPictureBytes / 3 && bytes.length <= maxPictureBytes, what)
    const start = performance.now()
    refused(t, bytes, message, what)
    t.ok(performance.now() - start < 300, `${what}: at once`)
  }
  const behind = [frameHeader(9, 9), scan, Buffer.alloc(5_000_000, 0xff)]
  const start = performance.now()
  readPicture(jpegOf(...behind))
  t.ok(performance.now() - start < 300, '0xff behind a scan is passed at once')
})

t.test('a file without a picture is damaged', async (t) => {
  refused(t, pngOf(), damaged, 'a PNG without data')
  refused(t, Buffer.concat([png().subarray(0, 33), data]), damaged, 'a PNG without an end')
  refused(t, jpegOf(frameHeader(9, 9)), damaged, 'a JPEG without a scan')
  refused(t, jpegOf(frameHeader(9, 9), scan.subarray(0, -2)), damaged, 'with an empty one')
  refused(t, jpegOf(scan, frameHeader(9, 9)), damaged, 'with one before its size')
  refused(t, gifOf(1), damaged, 'a GIF without a frame')
  refused(t, webpOf(canvas(4)), damaged, 'a WebP without an image')
  for (const one of [png(), jpeg(), gif(), webp()]) t.ok(readPicture(one))
})

t.test('nothing is kept in corners of what is kept', async (t) => {
  const exif = riff('EXIF', Buffer.from('Lagos'))
  const moving = readPicture(webpOf(canvas(4), webpFrame(4, exif, lossless(4), exif)))
  t.same(moving.bytes, webpOf(canvas(4), webpFrame(4, lossless(4))), 'beside the image of a frame')
  const jfif = Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01', 'latin1')
  const preview = Buffer.concat([jfif, Buffer.from([2, 1]), Buffer.from('Lagos Lagos')])
  const adobe = Buffer.from('Adobe\0\x64\0\0\0\0\x01', 'latin1')
  const more = Buffer.concat([adobe, Buffer.from('Lagos')])
  const rest = [frameHeader(9, 9), scan]
  t.same(
    readPicture(jpegOf(segment(0xe0, preview), segment(0xee, more), ...rest)).bytes,
    jpegOf(segment(0xe0, Buffer.concat([jfif, Buffer.alloc(2)])), segment(0xee, adobe), ...rest),
    'a preview, and what is behind the header',
  )
  t.same(
    readPicture(jpegOf(segment(0xe0, jfif.subarray(0, 9)), ...rest)).bytes,
    jpegOf(...rest),
    'a header that is cut off',
  )
})
