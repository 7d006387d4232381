import { createHash } from 'node:crypto'
import t from 'tap'
import { relaxBody } from '../../src/dkim/canonical.js'
import { hashBody } from '../../src/dkim/index.js'

async function* pieces(body: string, sizes: number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body, 'latin1')
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const hashOf = (body: string) =>
  createHash('sha256')
    .update(relaxBody(Buffer.from(body, 'latin1')))
    .digest('base64')

const bodies = [
  '',
  '\r\n',
  '\r\n\r\n\r\n',
  ' \t \r\n \r\n\t',
  'a',
  'a ',
  'a\r\n',
  'a \r\n\r\n\r\n',
  '\r\na',
  'a\r\n\r\n\r\nb \t c\t\r\n\r\n',
  ' a\r\n b',
  'a\r\n \t\r\n\t\r\n',
  'a\r\n\r\n \r\nb\r\n \r\n',
  `x${'\r\n'.repeat(20_000)}y${'\r\n'.repeat(20_000)}`,
  `${'q'.repeat(76)}\r\n`.repeat(500),
]

t.test('a body hashed in pieces has the hash that it has in one', async (t) => {
  for (const body of bodies) {
    for (const sizes of [[1], [2], [3], [1, 2, 5], [7, 1], [1_000], [1_000_000]]) {
      if (body.length > 10_000 && (sizes[0] ?? 0) < 10) continue
      t.equal(await hashBody(pieces(body, sizes)), hashOf(body), JSON.stringify(body.slice(0, 30)))
    }
  }
})

t.test('random bodies, cut at random, have the same hash', async (t) => {
  let seed = 20_261_122
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed % below
  }
  for (let round = 0; round < 300; round++) {
    const parts = ['\r\n', ' ', '\t', 'a', 'bc', '\r\n', '.', '\xff']
    const body = Array.from({ length: random(60) }, () => parts[random(parts.length)]).join('')
    const sizes = Array.from({ length: 5 }, () => 1 + random(9))
    const same = (await hashBody(pieces(body, sizes))) === hashOf(body)
    if (!same) t.fail(`${JSON.stringify(body)} cut at ${sizes}`)
  }
})

t.test('a bare CR or LF is refused, wherever it is cut', async (t) => {
  for (const body of ['a\nb', 'a\rb', 'a\r', '\n', 'a\r\r\n', 'a\r\n\n']) {
    for (const size of [1, 2, 100]) {
      await t.rejects(hashBody(pieces(body, [size])), /bare CR or LF/, JSON.stringify(body))
    }
  }
})
