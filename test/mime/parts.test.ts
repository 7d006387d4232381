import t from 'tap'
import { type MessageParts, readParts } from '../../src/mime/index.js'
import { fingerprintOf } from '../../src/submission/fingerprint.js'

const head = Buffer.from('MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n')
const message = [
  'preamble',
  '--',
  '--b',
  'Content-Type: multipart/alternative; boundary=b2',
  '',
  '--b2',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'one',
  '-- ',
  '--b3',
  '',
  '--b2',
  'Content-Type: text/html',
  '',
  '<p>two</p>',
  '--b2--',
  '',
  '--b  ',
  'Content-Type: application/pdf',
  'Content-Disposition: attachment',
  '',
  '-three',
  '--b--',
  '--b2',
  '',
].join('\r\n')

function* inPieces(text: string, bytes: number): Generator<Buffer> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes)
}

t.test('the parts are the same in whatever pieces a message is read', async (t) => {
  const whole = readParts(head, inPieces(message, 65_536))
  const text = ({ leaves }: MessageParts) =>
    leaves.map(({ type, start, end }) => [type, message.slice(start, end)])
  t.same(text(whole), [
    ['text/plain', 'one\r\n-- \r\n--b3\r\n'],
    ['text/html', '<p>two</p>'],
    ['application/pdf', '-three'],
  ])
  const fields = [{ name: 'subject', value: 'x', raw: Buffer.alloc(0) }]
  const envelope = { from: 'a@b.test', to: ['c@d.test'] }
  const print = fingerprintOf(envelope, fields, inPieces(message, 65_536))
  for (let bytes = 1; bytes < 40; bytes++) {
    t.same(readParts(head, inPieces(message, bytes)), whole, `${bytes} bytes`)
    t.equal(fingerprintOf(envelope, fields, inPieces(message, bytes)), print)
  }
  const again = message.replace(/\bb2\b/g, 'other').replace(/--b\b/g, '--another')
  t.equal(fingerprintOf(envelope, fields, inPieces(again, 7)), print, 'boundaries say nothing')
  const changed = message.replace('-three', '-four')
  t.not(fingerprintOf(envelope, fields, inPieces(changed, 7)), print)
})

t.test('a message of too many, too deep or too long parts is not read to its end', async (t) => {
  const nested = Array.from(
    { length: 10_000 },
    (_, i) => `--b${i || ''}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
  )
  const bodies: [RegExp, string][] = [
    [/over 500 parts/, '--b\r\n\r\n'.repeat(100_000)],
    [/nested over 20 deep/, nested.join('')],
    [/header of a part is too long/, `--b\r\n${'A: b\r\n'.repeat(100_000)}`],
    [/header of a part cannot be read/, `--b\r\nno field\r\n\r\n${'x\r\n'.repeat(100_000)}`],
  ]
  for (const [why, body] of bodies) {
    let read = 0
    const counted = function* () {
      for (const piece of inPieces(body, 1024)) {
        read += piece.length
        yield piece
      }
    }
    t.match(readParts(head, counted()).broken, why)
    t.ok(read < 30_000, `${why}: ${read} of ${body.length} bytes were read`)
  }
})
