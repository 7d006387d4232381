import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import {
  type Answer,
  AUTHENTIC_DATA,
  type DecodedPacket,
  decode,
  encode,
  TRUNCATED_RESPONSE,
} from 'dns-packet'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { cachingResolver, staticResolver, validatingResolver } from '../../src/dns/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeResolver } from '../support/resolver.js'

const hash = Buffer.alloc(32, 7)
const tlsaRow = (name: string, ttl = 300): Answer => ({
  type: 'TLSA',
  name,
  ttl,
  data: { usage: 3, selector: 1, matchingType: 1, certificate: hash },
})

interface Reply {
  flags?: number
  answers?: Answer[]
  /** Bytes in the place of the answer. */
  raw?: Buffer
}

/** A resolver of a few lines: what `udp` and `tcp` return goes out, in turn; nothing is silence. */
async function dnsServer(
  t: Test,
  udp: (query: DecodedPacket, at: number) => Reply[],
  tcp: (query: DecodedPacket) => Reply | 'hang up' | 'silence' = () => 'hang up',
) {
  const queries: DecodedPacket[] = []
  const sources = new Set<number>()
  let overTcp = 0
  const bytes = (query: DecodedPacket, { flags = 0, answers = [], raw }: Reply) =>
    raw ??
    encode({
      type: 'response',
      id: query.id ?? 0,
      flags,
      ...(query.questions && { questions: query.questions }),
      answers,
    })
  const open = new Set<Socket>()
  const streams = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('data', (data: Buffer) => {
      overTcp++
      const query = decode(data.subarray(2))
      const reply = tcp(query)
      if (reply === 'silence') return
      if (reply === 'hang up') {
        socket.destroy()
        return
      }
      const body = bytes(query, reply)
      const length = Buffer.from([body.length >> 8, body.length & 255])
      // In two pieces, as networks do.
      socket.write(Buffer.concat([length, body.subarray(0, 5)]), () => {
        setImmediate(() => socket.write(body.subarray(5)))
      })
    })
  })
  streams.listen(0, '127.0.0.1')
  await once(streams, 'listening')
  const { port } = streams.address() as AddressInfo
  const datagrams = createSocket('udp4')
  datagrams.on('message', (message, peer) => {
    const query = decode(message)
    queries.push(query)
    sources.add(peer.port)
    for (const reply of udp(query, queries.length - 1)) {
      datagrams.send(bytes(query, reply), peer.port, peer.address)
    }
  })
  datagrams.bind(port, '127.0.0.1')
  await once(datagrams, 'listening')
  t.teardown(() => {
    datagrams.close()
    for (const socket of open) socket.destroy()
    streams.close()
  })
  return { server: `127.0.0.1:${port}`, queries, sources, tcpCount: () => overTcp, datagrams }
}

const name = '_25._tcp.mx.test'

t.test('a signed answer is secure, one without AD is not', async (t) => {
  const { server, queries, sources } = await dnsServer(t, (query) => {
    const asked = query.questions?.[0]
    if (asked?.type === 'TLSA') return [{ flags: AUTHENTIC_DATA, answers: [tlsaRow(name)] }]
    if (asked?.type === 'MX') {
      const data = { preference: 5, exchange: 'MX.Test' }
      return [{ answers: [{ type: 'MX', name: 'one.test', ttl: 60, data }] }]
    }
    const alias: Answer = { type: 'CNAME', name: 'mx.test', ttl: 9, data: 'Target.test' }
    const row: Answer = { type: 'A', name: 'Target.test', ttl: 60, data: '192.0.2.1' }
    return [{ flags: AUTHENTIC_DATA, answers: [alias, row] }]
  })
  const dns = validatingResolver({ clock: systemClock, server })
  const record = { usage: 3, selector: 1, matching: 1, data: hash }
  t.same(await dns.tlsa(name), {
    kind: 'records',
    records: [record],
    ttlMs: 300_000,
    secure: true,
    name,
  })
  const exchanges = [{ preference: 5, exchange: 'mx.test' }]
  t.match(await dns.mx('one.test'), { kind: 'records', records: exchanges, secure: false })
  t.match(await dns.a('mx.test'), { records: ['192.0.2.1'], secure: true, name: 'target.test' })
  for (const query of queries) t.match(query, { flag_ad: true, flag_rd: true })
  t.ok(new Set(queries.map(({ id }) => id)).size > 1, 'ids and ports are drawn by lot')
  t.ok(sources.size > 1)
})

t.test('an answer that ends inside an address is a failed look-up', async (t) => {
  const { server } = await dnsServer(t, (query) => {
    const row: Answer = { type: 'A', name: 'cut.test', ttl: 60, data: '192.0.2.1' }
    const questions = query.questions ?? []
    const whole = encode({ type: 'response', id: query.id ?? 0, questions, answers: [row] })
    return [{ raw: whole.subarray(0, -3) }]
  })
  const dns = validatingResolver({ clock: systemClock, server })
  t.match(await dns.a('cut.test'), { kind: 'failed', cause: 'DNS: the answer is malformed' })
})

t.test('a null MX has an empty exchange', async (t) => {
  const data = { preference: 0, exchange: '.' }
  const { server } = await dnsServer(t, () => [
    { answers: [{ type: 'MX', name: 'one.test', ttl: 60, data }] },
  ])
  const dns = validatingResolver({ clock: systemClock, server })
  t.match(await dns.mx('one.test'), { records: [{ exchange: '' }] })
})

t.test('what is not there, and what is refused', async (t) => {
  for (const [flags, answer] of [
    [AUTHENTIC_DATA, { kind: 'none', secure: true }],
    [0, { kind: 'none', secure: false }],
    [AUTHENTIC_DATA | 3, { kind: 'nxdomain', secure: true }],
    [2, { kind: 'failed', cause: 'DNS: SERVFAIL', secure: false }],
    [AUTHENTIC_DATA | 2, { kind: 'failed', cause: 'DNS: SERVFAIL', secure: false }],
    [5, { kind: 'failed', cause: 'DNS: REFUSED', secure: false }],
    [9, { kind: 'failed', cause: 'DNS: code 9', secure: false }],
  ] as const) {
    const { server } = await dnsServer(t, () => [{ flags }])
    t.same(await validatingResolver({ clock: systemClock, server }).tlsa(name), answer)
  }
})

t.test('an answer that was cut off is asked for over TCP', async (t) => {
  const cut = [{ flags: TRUNCATED_RESPONSE }]
  const rows = Array.from({ length: 150 }, () => tlsaRow(name))
  const whole = { flags: AUTHENTIC_DATA, answers: rows }
  const { server, tcpCount } = await dnsServer(
    t,
    () => cut,
    () => whole,
  )
  const answer = await validatingResolver({ clock: systemClock, server }).tlsa(name)
  t.match(answer, { kind: 'records', secure: true })
  t.equal(answer.kind === 'records' && answer.records.length, 100, 'bounded')
  t.equal(tcpCount(), 1)

  const otherId = encode({ type: 'response', id: 1, questions: [{ type: 'TLSA', name: 'x.test' }] })
  for (const [reply, cause] of [
    ['hang up', /closed|ECONNRESET/],
    [{ raw: otherId }, /not the answer/],
    [{ raw: Buffer.from('short') }, /not the answer/],
  ] as const) {
    const { server } = await dnsServer(
      t,
      () => cut,
      () => reply,
    )
    const answer = await validatingResolver({ clock: systemClock, server }).tlsa(name)
    t.match(answer, { kind: 'failed', cause })
  }
  t.test('within the same deadline', async (t) => {
    const clock = new FakeClock()
    let asked = () => {}
    const reached = new Promise<void>((resolve) => {
      asked = resolve
    })
    const { server } = await dnsServer(
      t,
      () => cut,
      () => {
        asked()
        return 'silence'
      },
    )
    const answer = validatingResolver({ clock, server }).tlsa(name)
    await reached
    await clock.advance(5_000)
    t.match(await answer, { kind: 'failed', cause: 'DNS: no answer in time over TCP' })
  })
})

t.test('what is not the answer to the question is ignored', async (t) => {
  const real = { flags: AUTHENTIC_DATA, answers: [tlsaRow(name)] }
  const forged = (query: DecodedPacket, change: Partial<DecodedPacket>) => ({
    raw: encode({
      type: 'response',
      id: query.id ?? 0,
      ...(query.questions && { questions: query.questions }),
      flags: AUTHENTIC_DATA,
      ...change,
    }),
  })
  const { server } = await dnsServer(t, (query) => [
    forged(query, { id: ((query.id ?? 0) + 1) & 0xffff }),
    forged(query, { questions: [{ type: 'TLSA', name: '_25._tcp.other.test' }] }),
    forged(query, { questions: [{ type: 'A', name }] }),
    forged(query, { questions: [] }),
    forged(query, { type: 'query' }),
    { raw: Buffer.from('garbage') },
    { raw: Buffer.alloc(0) },
    real,
  ])
  const answer = await validatingResolver({ clock: systemClock, server }).tlsa(name)
  t.match(answer, { kind: 'records', secure: true })
})

t.test('another than the server is not heard', async (t) => {
  const stranger = createSocket('udp4')
  stranger.bind(0, '127.0.0.1')
  await once(stranger, 'listening')
  t.teardown(() => stranger.close())
  const { server, datagrams } = await dnsServer(t, () => [])
  datagrams.on('message', (message, peer) => {
    const query = decode(message)
    const reply = (flags: number) =>
      encode({ type: 'response', id: query.id ?? 0, questions: query.questions ?? [], flags })
    stranger.send(reply(AUTHENTIC_DATA | 3), peer.port, peer.address, () =>
      datagrams.send(reply(2), peer.port, peer.address),
    )
  })
  const answer = await validatingResolver({ clock: systemClock, server }).tlsa(name)
  t.match(answer, { kind: 'failed', cause: 'DNS: SERVFAIL' })
})

t.test('a question that got lost is repeated; silence ends in time', async (t) => {
  const clock = new FakeClock()
  const heard: (() => void)[] = []
  const next = () => new Promise<void>((resolve) => heard.push(resolve))
  const { server, queries } = await dnsServer(t, (_, at) => {
    heard.shift()?.()
    return at === 1 ? [{ flags: AUTHENTIC_DATA }] : []
  })
  const dns = validatingResolver({ clock, server, timeoutMs: 3_000 })
  let arrived = next()
  const first = dns.tlsa(name)
  await arrived
  await clock.advance(1_000)
  t.match(await first, { kind: 'none', secure: true })
  t.equal(queries.length, 2)

  arrived = next()
  const second = dns.tlsa(name)
  await arrived
  await clock.advance(3_000)
  t.same(await second, { kind: 'failed', cause: 'DNS: no answer in time', secure: false })
})

t.test('nobody there is said at once', async (t) => {
  const free = createSocket('udp4')
  free.bind(0, '127.0.0.1')
  await once(free, 'listening')
  const closed = `127.0.0.1:${free.address().port}`
  free.close()
  await once(free, 'close')
  t.match(await validatingResolver({ clock: systemClock, server: closed }).tlsa(name), {
    kind: 'failed',
    cause: /ECONNREFUSED/,
  })
  t.throws(() => validatingResolver({ clock: systemClock, server: 'localhost:53' }), /Not a name/)
})

t.test('more questions than may run at once wait; more than may wait fail', async (t) => {
  const { server } = await dnsServer(t, () => [{ flags: AUTHENTIC_DATA }])
  const limits = { maxConcurrent: 1, maxWaiting: 1 }
  const dns = validatingResolver({ clock: systemClock, server, ...limits })
  const answers = await Promise.all([dns.tlsa(name), dns.tlsa(name), dns.tlsa(name)])
  t.same(
    answers.map(({ kind }) => kind),
    ['none', 'none', 'failed'],
  )
})

t.test('the cache keeps validated answers apart from the others', async (t) => {
  const clock = new FakeClock()
  let asked = 0
  const validated = {
    mx: async () => ({ kind: 'none', secure: true }) as const,
    a: async () => {
      asked++
      return { kind: 'records', records: ['192.0.2.2'], ttlMs: 120_000, secure: true } as const
    },
    tlsa: async () => ({ kind: 'none', secure: true }) as const,
  }
  const plain = fakeResolver({ 'mx.test': { a: ['192.0.2.1'] } })
  const cached = cachingResolver({ ...plain, validated }, clock)
  t.match(await cached.a('mx.test'), { records: ['192.0.2.1'] })
  for (let i = 0; i < 3; i++) {
    t.match(await cached.validated?.a('MX.test'), { records: ['192.0.2.2'], secure: true })
  }
  t.equal(asked, 1)
  await clock.advance(120_000)
  await cached.validated?.a('mx.test')
  t.equal(asked, 2)
  t.same(await cached.validated?.mx('mx.test'), { kind: 'none', secure: true })
  t.same(await cached.validated?.tlsa('mx.test'), { kind: 'none', secure: true })
  t.equal(cachingResolver(plain, clock).validated, undefined)

  t.test('and what a table answers is signed by nobody', async (t) => {
    const split = staticResolver({ 'in.test': { a: ['10.0.0.1'] } }, cached)
    for (const question of ['mx', 'a', 'tlsa'] as const) {
      t.same(await split.validated?.[question]('in.test'), { kind: 'none', secure: false })
    }
    t.match(await split.validated?.a('mx.test'), { records: ['192.0.2.2'], secure: true })
    t.match(await split.validated?.mx('mx.test'), { secure: true })
    t.match(await split.validated?.tlsa('mx.test'), { secure: true })
  })
})
