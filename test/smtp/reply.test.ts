import t from 'tap'
import { parseCapabilities } from '../../src/smtp/capabilities.js'
import { defaultLimits } from '../../src/smtp/limits.js'
import {
  disagreeing,
  type RawReply,
  type Reply,
  ReplyReader,
  toReply,
} from '../../src/smtp/reply.js'

/** Feeds bytes to a reader in pieces; gives the replies and the complaint. */
function read(text: string | Buffer, pieceBytes = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(text)
  const reader = new ReplyReader(defaultLimits)
  const raw: RawReply[] = []
  let complaint: string | undefined
  for (let from = 0; from < bytes.length && complaint === undefined; from += pieceBytes) {
    complaint = reader.push(bytes.subarray(from, from + pieceBytes), (reply) => raw.push(reply))
  }
  return { raw, replies: raw.map(toReply), complaint, midReply: reader.midReply }
}

function one(text: string | Buffer): Reply | undefined {
  return read(text).replies[0]
}

t.test('replies are the same however the network cuts them', async (t) => {
  const text = '250-one\r\n250-2.1.0 two\r\n250 three\r\n354 go\r\n550\r\n'
  const whole = read(text)
  t.same(whole.replies, [
    { code: 250, enhanced: '2.1.0', text: 'one\n2.1.0 two\nthree' },
    { code: 354, text: 'go' },
    { code: 550, text: '' },
  ])
  for (let pieceBytes = 1; pieceBytes < 12; pieceBytes++) t.same(read(text, pieceBytes), whole)
})

t.test('what is half a reply is kept when its memory gets other bytes', async (t) => {
  const memory = Buffer.from('250 2.0.0 mine')
  const reader = new ReplyReader(defaultLimits)
  const raw: RawReply[] = []
  reader.push(memory, (reply) => raw.push(reply))
  memory.fill('x')
  reader.push(Buffer.from(' alone\r\n'), (reply) => raw.push(reply))
  t.same(raw, [{ code: 250, lines: ['2.0.0 mine alone'] }])
})

t.test('a line may end in a bare LF', async (t) => {
  t.same(read('250-a\n250 b\n').replies, [{ code: 250, text: 'a\nb' }])
})

t.test('what is no reply is complained of', async (t) => {
  const complaints: [text: string, complaint: string][] = [
    ['hello\r\n', 'malformed reply'],
    ['\r\n', 'malformed reply'],
    ['25\r\n', 'malformed reply'],
    ['2500 ok\r\n', 'malformed reply'],
    ['250_ok\r\n', 'malformed reply'],
    ['150 ok\r\n', 'malformed reply'],
    ['650 ok\r\n', 'malformed reply'],
    ['2x0 ok\r\n', 'malformed reply'],
    ['250-a\r\n251 b\r\n', 'reply lines disagree about the code'],
  ]
  for (const [text, complaint] of complaints) t.equal(read(text).complaint, complaint, text)
})

t.test('of a reply that turns into a refusal the refusal counts', async (t) => {
  const { raw, complaint } = read('220-hello\r\n220-you\r\n521-5.7.1 on\r\n521 a list\r\n')
  t.equal(complaint, undefined)
  const superseded = ['220-hello', '220-you']
  t.same(raw, [{ code: 521, lines: ['5.7.1 on', 'a list'], superseded }])
  t.equal(read('521-no\r\n220 hello\r\n').complaint, disagreeing, 'never the other way round')
  t.equal(
    read(`${'220-x\r\n'.repeat(60)}${'521-x\r\n'.repeat(4)}`).complaint,
    'too many reply lines',
  )
})

t.test('lines, their number and the whole reply are bounded', async (t) => {
  const line = (bytes: number) => `${'250 '.padEnd(bytes - 2, 'x')}\r\n`
  t.equal(read(line(2_048)).complaint, undefined)
  t.equal(read(line(2_049)).complaint, 'reply line too long')
  t.equal(read('250 '.padEnd(2_048, 'x'), 100).complaint, 'reply line too long', 'without an end')
  t.equal(read(`${'250-x\r\n'.repeat(63)}250 x\r\n`).complaint, undefined)
  t.equal(read('250-x\r\n'.repeat(64)).complaint, 'too many reply lines')
  t.equal(read(line(2_000).replace(' ', '-').repeat(9)).complaint, 'reply too long')
})

t.test('an enhanced status counts only when its class agrees with the code', async (t) => {
  t.equal(one('550 5.1.1 no such user\r\n')?.enhanced, '5.1.1')
  t.equal(one('550-first\r\n550 5.7.515 denied\r\n')?.enhanced, '5.7.515')
  t.equal(one('250 2.0.0\r\n')?.enhanced, '2.0.0')
  t.equal(one('550 4.1.1 no such user\r\n')?.enhanced, undefined)
  t.equal(one('550 5.1.1.1 what\r\n')?.enhanced, undefined)
  t.equal(one('550 5.1 what\r\n')?.enhanced, undefined)
  t.equal(one('354 3.0.0 go\r\n')?.enhanced, undefined)
})

t.test('text is clean, short and in one encoding', async (t) => {
  t.equal(one('250 a\u0000b\u001b[31mc\td\r\n')?.text, 'a?b?[31mc?d')
  t.equal(one('250 \u202eevil\u0085\r\n')?.text, '?evil?')
  t.equal(one('250 a\u200bb\u206ac\ufff9d\u{e0041}e\u2028\r\n')?.text, 'a?b?c?d?e?', 'unseen')
  t.equal(one('550 b\u00e9 \u65e5\r\n')?.text, 'b\u00e9 \u65e5', 'UTF-8')
  t.equal(one(Buffer.from('550 b\u00e9\r\n', 'latin1'))?.text, 'b\u00e9', 'Latin-1')
  const long = one(`550 x${'\u65e5'.repeat(600)}\r\n`)?.text ?? ''
  t.ok(Buffer.byteLength(long) <= 1_000)
  t.match(long, /^x\u65e5{333}$/, 'no character is cut in half')
})

t.test('capabilities are read whatever their case and age', async (t) => {
  const raw = (...lines: string[]): RawReply => ({ code: 250, lines })
  const found = parseCapabilities(
    raw('pipelining', 'pipelining', '8bitmime', 'SIZE 1000', 'AUTH=login', 'auth PLAIN', 'X-NEW'),
  )
  t.match(found, { pipelining: true, eightBitMime: true, size: 1_000, smtpUtf8: false, dsn: false })
  t.same(found.auth, ['LOGIN', 'PLAIN'])
  t.equal(parseCapabilities(raw('PIPELINING', 'HELP')).pipelining, false, 'the greeting is none')
  for (const none of ['SIZE', 'SIZE 0', 'SIZE x', 'SIZE -1']) {
    const { size, sizeOffered } = parseCapabilities(raw('hello', none))
    t.same({ size, sizeOffered }, { size: undefined, sizeOffered: true }, none)
  }
})
