// Issue 44, 'Pictures': a PNG is what it says that it is, and no bomb.
import { deflateSync } from 'node:zlib'
import t from 'tap'
import { wholePicture } from '../../src/pictures/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { gif, jpeg, png, pngChunk, webp } from './samples.js'

const be32 = (n: number) => Buffer.from([n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255])

/** A PNG of this size, kind and way of interlacing, whose rows have so many bytes together. */
const pngOf = (
  [width, height, bits, colour, interlaced]: [number, number, number, number, number],
  bytes: number,
) =>
  Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk(
      'IHDR',
      Buffer.concat([be32(width), be32(height), Buffer.from([bits, colour, 0, 0, interlaced])]),
    ),
    pngChunk('IDAT', deflateSync(Buffer.alloc(bytes))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])

const refused = (t: Tap, bytes: Buffer, what: string) =>
  t.rejects(wholePicture(bytes), { status: 422, message: /The picture is damaged/ }, what)
type Tap = Pick<typeof t, 'rejects'>

t.test('pictures as programs write them are taken', async (t) => {
  for (const one of [png(), png(30, 20), jpeg(), gif(), webp()]) t.ok(await wholePicture(one))
  t.ok(await wholePicture(pngOf([5, 4, 8, 6, 0], 4 * (1 + 5 * 4))), 'with transparency')
  t.ok(await wholePicture(pngOf([3, 2, 16, 2, 0], 2 * (1 + 3 * 6))), 'of 48 bits')
  // The seven passes of 8 × 8 grey pixels have 1, 1, 1, 2, 2, 4 and 4 rows.
  const adam7 = 2 + 2 + 3 + 2 * 3 + 2 * 5 + 4 * 5 + 4 * 9
  t.ok(await wholePicture(pngOf([8, 8, 8, 0, 1], adam7)), 'interlaced')
})

t.test('a wrong sum, too much, too little and nonsense are refused', async (t) => {
  const good = pngOf([100, 100, 8, 0, 0], 10_100)
  t.ok(await wholePicture(good))
  const flipped = Buffer.from(good)
  flipped.writeUInt8(flipped.readUInt8(good.length - 20) ^ 1, good.length - 20)
  await refused(t, flipped, 'a bit of the data')
  await refused(t, pngOf([100, 100, 8, 0, 0], 10_099), 'a byte too little')
  await refused(t, pngOf([100, 100, 8, 0, 0], 10_101), 'a byte too much')
  await refused(t, pngOf([100, 100, 8, 0, 0], 200_000_000), 'a bomb')
  await refused(t, pngOf([100, 100, 8, 5, 0], 10_100), 'a type of colour that there is not')
})

t.test('the API refuses it too', async (t) => {
  const { call } = await startPosthorn(t)
  const post = async (bytes: Buffer) => {
    const content = bytes.toString('base64')
    return await call('POST', '/v1/pictures', { body: { name: 'x.png', content } })
  }
  t.equal((await post(png())).status, 201)
  t.equal((await post(pngOf([9, 9, 8, 0, 0], 1_000_000))).status, 422)
})
