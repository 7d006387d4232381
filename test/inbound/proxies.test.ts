// The PROXY protocol, version 2, before SMTP: real sockets, and the parser byte by byte.
import { createConnection } from 'node:net'
import t, { type Test } from 'tap'
import { readProxyHeader } from '../../src/smtpd/proxy-header.js'
import { Talk } from '../sandbox/talk.js'
import { FakeClock } from '../support/clock.js'
import { proxyHeader } from '../support/proxy-header.js'
import { startInbound } from './start.js'

const client4 = '198.51.100.7'
const client6 = '2001:db8::7'

/** A listener whose clients come by 127.0.1.1, or by themselves from elsewhere. */
const behindProxy = (t: Test, options: Parameters<typeof startInbound>[1] = {}) =>
  startInbound(t, {
    ...options,
    config: { proxyProtocolFrom: ['127.0.1.0/24'], connectionsPerAddress: 2, ...options.config },
  })

t.test('whom a header names is the client: of a mail, and of limits', async (t) => {
  const { port, store } = await behindProxy(t)
  const come = (first: Buffer | undefined, from = '127.0.1.1') => Talk.greeted(t, port, from, first)
  for (const [from, first] of [
    ['127.0.1.1', proxyHeader(client4)],
    ['127.0.1.1', proxyHeader(client6, { more: Buffer.alloc(500, 4) })],
    ['127.0.1.1', proxyHeader(undefined)],
    ['127.0.1.1', proxyHeader(client4, { command: 0 })],
    ['127.0.2.1', undefined],
  ] as const) {
    const { talk, greeting } = await come(first, from)
    t.match(greeting, /^220 /)
    t.match(await talk.upToData(['postmaster']), /^354 /)
    t.match(await talk.say('From: <ada@example.test>\r\n\r\nhello\r\n.'), /^250 /)
    await talk.say('QUIT')
  }
  const filed = () =>
    store.read.selectFrom('operator_mails').select('remote_address').orderBy('id').execute()
  while ((await filed()).length < 5) await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(
    (await filed()).map(({ remote_address: address }) => address),
    [client4, client6, '127.0.1.1', '127.0.1.1', '127.0.2.1'],
  )

  // Two of a client may be connected, however many the proxy brings.
  const greetings: string[] = []
  for (const client of [client4, client4, client4, client6, client6]) {
    const { greeting } = await come(proxyHeader(client, { port: 1_000 + greetings.length }))
    greetings.push(greeting.slice(0, 3))
  }
  t.same(greetings, ['220', '220', '421', '220', '220'])
})

t.test('a header in pieces, and what comes with it', async (t) => {
  const { port } = await behindProxy(t)
  const socket = createConnection({ port, host: '127.0.0.1', localAddress: '127.0.1.1' })
  t.teardown(() => socket.destroy())
  const header = proxyHeader(client4)
  let said = ''
  socket.on('data', (bytes) => {
    said += bytes
  })
  for (const byte of header.subarray(0, 20)) {
    socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal(said, '', 'nobody is greeted before it is known who it is')
  socket.write(header.subarray(20))
  while (!said.includes('\r\n')) await new Promise((resolve) => setTimeout(resolve, 5))
  t.match(said, /^220 /)
})

t.test(
  'who has to bring a header and does not is closed, and nobody else may bring one',
  async (t) => {
    const clock = new FakeClock()
    const { port } = await behindProxy(t, { clock })
    for (const [what, first] of [
      ['none', Buffer.from('EHLO client.test\r\n')],
      ['version 1', Buffer.from(`PROXY TCP4 ${client4} 127.0.0.1 1 25\r\n`)],
      ['an unknown command', proxyHeader(client4, { command: 2 })],
      ['too short for its addresses', proxyHeader(client6, { family: 0x21, length: 12 })],
      ['UDP', proxyHeader(client4, { family: 0x12 })],
      ['too long', proxyHeader(client4, { length: 65_535 })],
    ] as const) {
      t.equal((await Talk.greeted(t, port, '127.0.1.1', first)).greeting, 'closed', what)
    }
    const slow = Talk.greeted(t, port, '127.0.1.1', proxyHeader(client4).subarray(0, 20))
    // Its bytes are there before the clock goes on.
    await Talk.greeted(t, port, '127.0.1.1', proxyHeader(client4))
    await clock.advance(5_000)
    t.equal((await slow).greeting, 'closed', 'slow')
    // From elsewhere it is what any nonsense is: a client that talks before it is greeted.
    const { greeting } = await Talk.greeted(t, port, '127.0.3.1', proxyHeader(client4))
    t.match(greeting, /^(?:421|5\d\d|closed)/)
  },
)

t.test('the parser reads whole headers alone, whatever the bytes', (t) => {
  const good = [proxyHeader(client4), proxyHeader(client6), proxyHeader(undefined)]
  for (const header of good) {
    const kinds = Array.from(
      header,
      (_, length) => readProxyHeader(header.subarray(0, length)).kind,
    )
    t.same(new Set(kinds), new Set(['more']))
    const behind = Buffer.concat([header, Buffer.from('EHLO x')])
    t.match(readProxyHeader(behind), { kind: 'read', bytes: header.length })
  }
  t.same(readProxyHeader(proxyHeader('::ffff:198.51.100.7', { port: 9 })), {
    kind: 'read',
    bytes: 52,
    peer: { address: client4, port: 9 },
  })
  // A byte changed at each place: nothing throws, and nothing reaches past what has come.
  let seed = 7
  for (const header of good) {
    for (let at = 0; at < header.length * 20; at++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      const changed = Buffer.from(header)
      changed[at % header.length] = seed >> 16
      const read = readProxyHeader(changed)
      if (read.kind === 'read' && read.bytes > changed.length) t.fail(changed.toString('hex'))
    }
  }
  t.end()
})
