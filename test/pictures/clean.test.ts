import t from 'tap'
import { isAnimated } from '../../src/dashboard/browser/animated.js'
import { maxPictureBytes, readPicture } from '../../src/pictures/index.js'
import { gif, jpeg, png, pngChunk, webp } from './samples.js'

t.test('what is kept of a picture names no place, and shows the same', async (t) => {
  const kinds = {
    'image/png': png(),
    'image/jpeg': jpeg(1),
    'image/gif': gif(),
    'image/webp': webp(),
  }
  for (const [contentType, bytes] of Object.entries(kinds)) {
    t.ok(bytes.includes('Lagos'), `${contentType} had a place`)
    const clean = readPicture(bytes)
    t.match(clean, { contentType, width: 3, height: 2 })
    t.notOk(clean.bytes.includes('Lag'), `${contentType} has none`)
    t.same(readPicture(clean.bytes), clean, 'what is clean stays as it is')
  }
  t.ok(readPicture(gif()).bytes.includes('NETSCAPE2.0'), 'it repeats as before')
  t.equal(readPicture(webp()).bytes[20], 0, 'nothing says that there is more')
  t.equal(readPicture(webp()).bytes.readUInt32LE(4), readPicture(webp()).bytes.length - 8)
})

t.test('a picture that moves is known before a browser shrinks it', async (t) => {
  const moves = (bytes: Buffer) => isAnimated(new Blob([new Uint8Array(bytes)]))
  const moving = webp()
  moving.writeUInt8(moving.readUInt8(20) | 2, 20)
  const at = png().indexOf('IDAT') - 4
  const frames = pngChunk('acTL', Buffer.alloc(8, 1))
  const movingPng = Buffer.concat([png().subarray(0, at), frames, png().subarray(at)])
  t.same([await moves(moving), await moves(movingPng)], [true, true])
  const late = Buffer.concat([png(), frames])
  for (const still of [webp(), png(), late, jpeg(), png().subarray(0, 20), Buffer.from('RIFF')]) {
    t.equal(await moves(still), false)
  }
})

t.test('which way a photo is up is kept alone', async (t) => {
  const turned = readPicture(jpeg(6))
  t.match(turned, { width: 2, height: 3 }, 'it is seen lying on its side')
  t.notOk(turned.bytes.includes('Lag'))
  t.equal(turned.bytes.indexOf('Exif'), 6)
  t.equal(turned.bytes.readUInt16BE(30), 6)
  t.same(readPicture(turned.bytes), turned)
})

t.test('what recipients should not get is refused with the reason', async (t) => {
  const svg = Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>')
  t.throws(() => readPicture(svg), { message: /SVG can hold scripts.*save it as PNG/ })
  t.throws(() => readPicture(Buffer.from('\0\0\0\x18ftypheic')), { message: /save it as JPEG/ })
  t.throws(() => readPicture(Buffer.from('<html>')), {
    message: /must be a PNG, JPEG, GIF or WebP/,
  })
  t.throws(() => readPicture(png(5_001, 5_000)), { message: /5001 × 5000 pixels/ })
  t.throws(() => readPicture(Buffer.alloc(maxPictureBytes + 1)), { message: /at most 5/ })
})

t.test('whatever is cut off or changed in a file, it is read or refused', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (const sample of [png(), jpeg(), gif(), webp()]) {
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(sample.subarray(0, 1 + random(sample.length)))
      for (let change = random(4); change > 0; change--) bytes[random(bytes.length)] = random(256)
      try {
        const { bytes: kept } = readPicture(bytes)
        t.ok(kept.length <= bytes.length + 40 || t.fail('it grew'))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'validation_error'))
          throw error
      }
    }
  }
})
