import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { systemResolver } from '../../src/dns/index.js'
import { FakeClock } from '../support/clock.js'

const types = { A: 1, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28 } as const
type Type = keyof typeof types
type Row = [type: Type, data: Buffer, ttlS?: number]

/** Names with rows, a response code (2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED), or silence. */
type Zone = Record<string, Row[] | number | 'silence'>

/** RFC 1035 §3.1: length and text of each label, then the root. */
const encode = (name: string) =>
  Buffer.concat([
    ...(name === '' ? [] : name.split('.')).map((label) =>
      Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
    ),
    Buffer.from([0]),
  ])
const mx = (preference: number, exchange: string) =>
  Buffer.concat([Buffer.from([preference >> 8, preference & 255]), encode(exchange)])
const txt = (...strings: string[]) =>
  Buffer.concat(strings.map((s) => Buffer.concat([Buffer.from([s.length]), Buffer.from(s)])))

/** A name server of a few lines: one question in, the rows of that name and type out. */
async function nameServer(t: Test, zone: Zone) {
  const socket: Socket = createSocket('udp4')
  const questions: string[] = []
  socket.on('message', (query, peer) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const question = query.subarray(12, at + 5)
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.').toLowerCase()
    questions.push(name)
    const entry = zone[name] ?? 3
    if (entry === 'silence') return
    const rows = typeof entry === 'number' ? [] : entry.filter(([rtype]) => types[rtype] === type)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (typeof entry === 'number' ? entry : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(rows.length, 6)
    const answers = rows.map(([rtype, data, ttlS = 300]) => {
      const head = Buffer.alloc(12)
      head.writeUInt16BE(0xc00c, 0) // the name of the question
      head.writeUInt16BE(types[rtype], 2)
      head.writeUInt16BE(1, 4)
      head.writeUInt32BE(ttlS, 6)
      head.writeUInt16BE(data.length, 10)
      return Buffer.concat([head, data])
    })
    socket.send(Buffer.concat([header, question, ...answers]), peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], questions }
}

t.test('reads what a real name server sends', async (t) => {
  const { servers } = await nameServer(t, {
    'a.test': [
      ['MX', mx(10, 'MX1.a.test')],
      ['MX', mx(300, 'mx2.a.test')],
      ['A', Buffer.from([192, 0, 2, 1]), 600],
      ['A', Buffer.from([192, 0, 2, 2]), 30],
      ['AAAA', Buffer.from('20010db8000000000000000000000001', 'hex'), 90],
      ['TXT', txt('v=DKIM1; p=AAAA', 'BBBB', '')],
      ['TXT', txt('second')],
    ],
    'null.test': [['MX', mx(0, '')]],
    'alias.test': [['CNAME', encode('Real.test')]],
    '1.2.0.192.in-addr.arpa': [['PTR', encode('Mail.a.test')]],
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa': [
      ['PTR', encode('six.a.test')],
    ],
    'xn--bcher-kva.test': [['TXT', txt('books')]],
    'broken.test': 2,
    'shy.test': 5,
  })
  const resolver = systemResolver({ servers, clock: systemClock })

  t.same(await resolver.mx('a.test'), {
    kind: 'records',
    records: [
      { exchange: 'mx1.a.test', preference: 10 },
      { exchange: 'mx2.a.test', preference: 300 },
    ],
  })
  t.same(await resolver.mx('null.test'), {
    kind: 'records',
    records: [{ exchange: '', preference: 0 }],
  })
  t.same(await resolver.a('a.test'), {
    kind: 'records',
    records: ['192.0.2.1', '192.0.2.2'],
    ttlMs: 30_000,
  })
  t.same(await resolver.aaaa('a.test'), {
    kind: 'records',
    records: ['2001:db8::1'],
    ttlMs: 90_000,
  })
  t.same(
    await resolver.txt('a.test'),
    { kind: 'records', records: ['v=DKIM1; p=AAAABBBB', 'second'] },
    'the strings of one TXT are joined, two TXT stay apart',
  )
  t.same(await resolver.cname('alias.test'), { kind: 'records', records: ['real.test'] })
  t.same(await resolver.ptr('192.0.2.1'), { kind: 'records', records: ['mail.a.test'] })
  t.same(await resolver.ptr('2001:db8::1'), { kind: 'records', records: ['six.a.test'] })
  t.same(await resolver.txt('bücher.test'), { kind: 'records', records: ['books'] })
  t.same(await resolver.txt('null.test'), { kind: 'none' })
  t.same(await resolver.mx('nowhere.test'), { kind: 'nxdomain' })
  t.same(await resolver.mx('broken.test'), { kind: 'failed', cause: 'DNS: SERVFAIL' })
  t.same(await resolver.mx('shy.test'), { kind: 'failed', cause: 'DNS: REFUSED' })
  t.same(await resolver.ptr('not an address'), { kind: 'nxdomain' })
  t.same(await resolver.a('two..dots.test'), { kind: 'nxdomain' }, 'text that is not a name')
  t.same(await resolver.a(`${'x'.repeat(64)}.test`), { kind: 'nxdomain' }, 'a label too long')
})

t.test('a server that does not answer is a failure within the budget', async (t) => {
  const { servers, questions } = await nameServer(t, { 'mute.test': 'silence' })
  // A third of it goes by before the repetition: on a busy machine less is not enough.
  const resolver = systemResolver({ servers, timeoutMs: 900, clock: systemClock })
  const startedAt = process.hrtime.bigint()
  t.same(await resolver.mx('mute.test'), { kind: 'failed', cause: 'DNS: no answer in time' })
  const tookMs = Number(process.hrtime.bigint() - startedAt) / 1e6
  t.ok(tookMs < 2_000, `took ${Math.round(tookMs)} ms`)
  t.ok(questions.length > 1, 'a lost packet is sent again')
})

t.test('the budget ends a lookup even if the system goes on trying', async (t) => {
  const { servers } = await nameServer(t, { 'mute.test': 'silence' })
  const clock = new FakeClock()
  const resolver = systemResolver({ servers, timeoutMs: 900, clock })
  const answer = resolver.mx('mute.test')
  await clock.advance(900)
  t.same(await answer, { kind: 'failed', cause: 'DNS: no answer in time' })
})

t.test('nobody listening is a failure', async (t) => {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  const resolver = systemResolver({
    servers: [`127.0.0.1:${port}`],
    timeoutMs: 300,
    clock: systemClock,
  })
  t.match(await resolver.a('a.test'), { kind: 'failed' })
})

t.test('only so many records are taken over', async (t) => {
  const { servers } = await nameServer(t, {
    'many.test': Array.from({ length: 120 }, (_, i): Row => ['A', Buffer.from([192, 0, 2, i])]),
  })
  const answer = await systemResolver({ servers, clock: systemClock }).a('many.test')
  t.equal(answer.kind === 'records' ? answer.records.length : 0, 100)
})

t.test('only so many lookups are under way at once; the others wait their turn', async (t) => {
  const names = Array.from({ length: 6 }, (_, i) => `n${i}.test`)
  const { servers, questions } = await nameServer(t, {
    ...Object.fromEntries(names.map((name): [string, Row[]] => [name, [['TXT', txt(name)]]])),
    'mute.test': 'silence',
  })
  const resolver = systemResolver({
    servers,
    clock: systemClock,
    timeoutMs: 600,
    maxConcurrent: 1,
    maxWaiting: 6,
  })
  const blocked = resolver.txt('mute.test')
  const answers = names.map((name) => resolver.txt(name))
  t.same(await resolver.txt('late.test'), { kind: 'failed', cause: 'too many DNS lookups' })
  t.match(await blocked, { kind: 'failed' })
  t.same(
    await Promise.all(answers),
    names.map((name) => ({ kind: 'records', records: [name] })),
  )
  const asked = questions.filter((name) => name !== 'mute.test')
  t.same(asked, names, 'one after the other, first come first served')
})
