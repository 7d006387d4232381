// Thorough: floods of connections that say nothing.
// Hostile clients over real sockets: each /24 of 127.0.0.0/8 is a network of its own.
import { once } from 'node:events'
import { createConnection } from 'node:net'
import t, { type Test } from 'tap'
import { openSpool } from '../../src/inbound/spool.js'
import { makeRoom } from '../../src/smtpd/index.js'
import { Talk } from '../sandbox/talk.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'
import { returnPathOf, startInbound } from './start.js'

const mebibyte = 2 ** 20
const line = `${'x'.repeat(998)}\r\n`
const letter = `From: <ada@example.test>\r\n\r\n${line.repeat(4)}`

/** A mail to the operator whose end does not come. */
async function silent(t: Test, port: number, from: string, bytes: number) {
  const { talk } = await Talk.greeted(t, port, from)
  t.match(await talk.upToData(['postmaster']), /^354 /)
  talk.write(line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes))
  return talk
}

t.test('twelve silent clients of one address hold nobody else up', async (t) => {
  const store = await openTestStore(t)
  const inbound = await startInbound(t, { reads: false, store })
  await Promise.all(
    Array.from({ length: 12 }, () => silent(t, inbound.port, '127.0.1.1', (64 * mebibyte) / 12)),
  )
  // Until their own network feels it: then all that they may hold is held.
  const large = line.repeat(2_000)
  const own = returnPathOf(store)
  let tries = 0
  const probe = async () => await inbound.give(large, 'postmaster', '', '127.0.1.2')
  while ((await probe()).startsWith('250') && tries < 6) tries++
  t.match(await inbound.give(letter, own, '', '127.0.1.3'), /^(?:250|452) /)
  for (let i = 0; i < 20; i++) {
    const from = `127.0.${2 + i}.1`
    t.match(await inbound.give(letter, own, '', from), /^250 /, `a report from ${from}`)
  }
  t.match(await inbound.give(large, 'postmaster', '', '127.0.99.1'), /^250 /, 'a large mail')
})

t.test(
  'when all room is held, the oldest mail of the network that holds most is lost',
  async (t) => {
    const room = makeRoom({ all: 60, perNetwork: 30 })
    const lost: string[] = []
    const mail = (network: string, name: string) => {
      const place = room.begin(network, () => {
        lost.push(name)
        place.leave()
      })
      return place
    }
    const [a1, a2] = [mail('a', 'a1'), mail('a', 'a2')]
    t.ok(a1.take(20))
    t.ok(a2.take(10))
    t.notOk(a2.take(1), 'a network has its share')
    t.ok(mail('b', 'b').take(25))
    const c = mail('c', 'c')
    t.ok(c.take(5))
    t.same(lost, [])
    t.ok(c.take(5))
    t.same(lost, ['a1'])
    t.ok(c.take(10))
    const d = mail('d', 'd')
    t.ok(d.take(10))
    t.same(lost, ['a1', 'b'])
    a2.arrived()
    for (const place of [a2, c, d]) place.leave()
    const whole = mail('e', 'whole')
    t.ok(whole.take(30))
    whole.arrived()
    const other = mail('f', 'other')
    t.ok(other.take(30))
    t.ok(mail('g', 'g').take(10))
    t.same(lost, ['a1', 'b', 'other'], 'one that is whole is on its way to the disk')
  },
)

t.test('a flood of reports waits for itself alone, in bytes as in number', async (t) => {
  const store = await openTestStore(t)
  const config = { maxWaitingMib: 16 }
  const own = returnPathOf(store)
  const half = line.repeat(600)
  const before = await startInbound(t, { reads: false, store, config })
  const replies = []
  for (let i = 1; i <= 4; i++) replies.push(await before.give(half, own, '', `127.0.1.${i}`))
  t.same(
    replies.map((reply) => reply.slice(0, 3)),
    ['250', '250', '250', '452'],
  )
  await before.close()
  const inbound = await startInbound(t, { reads: false, store, config })
  t.match(
    await inbound.give(half, own, '', '127.0.1.9'),
    /^452 /,
    'what waited at the start counts',
  )
  t.match(await inbound.give(letter, own, '', '127.0.1.9'), /^250 /, 'a small one has room')
  for (let n = 2; n < 12; n++) {
    for (let i = 1; i <= 3; i++) await inbound.give(half, own, '', `127.0.${n}.${i}`)
  }
  const { bytes } = await store.read
    .selectFrom('inbound_spool')
    .select(({ fn }) => fn.sum<number>(fn('length', ['raw'])).as('bytes'))
    .executeTakeFirstOrThrow()
  t.ok(bytes <= 16 * mebibyte && bytes > 15 * mebibyte, `${bytes} bytes of all networks`)
})

t.test('mail that finds no room is refused before it is sent again', async (t) => {
  const store = await openTestStore(t)
  const config = { maxWaitingMib: 16 }
  const own = returnPathOf(store)
  const inbound = await startInbound(t, { reads: false, store, config })
  const half = line.repeat(600)
  for (let i = 1; i <= 3; i++) t.match(await inbound.give(half, own, '', `127.0.1.${i}`), /^250 /)
  const talk = await inbound.talk('127.0.1.4')
  await talk.say('EHLO flood.test')
  t.match(await talk.say(`MAIL FROM:<> SIZE=${half.length}`), /^452 4\.3\.1 /)
  t.match(await talk.say('MAIL FROM:<> SIZE=2000'), /^250 /, 'a small one has room')
  await talk.say(`RCPT TO:<${own}>`)
  t.match(await talk.say('DATA'), /^354 /)
  talk.write(`${half}.\r\n`)
  t.match(await talk.reply(), /^452 4\.3\.1 /)
  // One that does not say how large it is comes to the dot once.
  for (let i = 0; i < 48; i++) t.match(await talk.say('MAIL FROM:<>'), /^452 4\.3\.1 /)
  t.match(await talk.say('MAIL FROM:<>'), /^421 4\.7\.0 Too many refused commands/)
  t.match(await inbound.give(half, own, '', '127.0.2.1'), /^250 /, 'another network has its share')
})

t.test('networks are read in turns, however many reports one has', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const spool = await openSpool({ store, clock }, { mails: 1_000, bytes: mebibyte })
  const keep = (remoteAddress: string, text: string) =>
    spool.keep({
      envelope: { remoteAddress, mailFrom: '', helo: '' },
      reports: ['x@y.test'],
      operator: [],
      raw: Buffer.from(text),
      sizeBytes: text.length,
      forward: false,
    })
  for (let i = 0; i < 50; i++) await keep(`192.0.2.${i}`, `a${i}`)
  for (let i = 0; i < 3; i++) await keep(`2001:db8:0:1${i}::1`, `b${i}`)
  await keep('198.51.100.1', 'c0')
  const inHand = new Set<number>()
  const next = async (count: number) => {
    const mails = await spool.next(count, inHand)
    for (const mail of mails) {
      inHand.add(mail.id)
      spool.wasRead(mail, 1)
    }
    return mails.map(({ raw }) => raw.toString())
  }
  t.same(await next(4), ['a0', 'b0', 'c0', 'a1'])
  t.same(await next(3), ['b1', 'a2', 'b2'])
  t.same(await next(2), ['a3', 'a4'])
  const [first] = await spool.next(1, new Set())
  if (first === undefined) throw new Error('nothing is left')
  await store.write((tx) => spool.putOff(tx, first, clock.now() + 60_000))
  spool.postponed(first, clock.now() + 60_000)
  t.notOk((await spool.next(99, new Set())).some(({ id }) => id === first.id))
  t.equal(spool.nextDue(new Set()), clock.now())
})

t.test('when it is crowded, who gets on nowhere loses its place to a newcomer', async (t) => {
  const clock = new FakeClock()
  const config = { maxConnections: 10, idleTimeout: 300_000 }
  const inbound = await startInbound(t, { reads: false, clock, config })
  const mute = []
  for (let n = 1; n <= 5; n++) mute.push(await inbound.talk(`127.0.${n}.1`))
  const [dripping, busy] = [await inbound.talk('127.0.6.1'), await inbound.talk('127.0.7.1')]
  await busy.say('EHLO busy.test')
  await clock.advance(29_000)
  t.match(await dripping.say('NOOP'), /^250 /)
  t.match(await busy.say('MAIL FROM:<>'), /^250 /)
  await inbound.talk('127.0.8.1')
  t.match(await mute[0]?.say('NOOP'), /^250 /, 'a tenth of the patience is not over yet')
  await clock.advance(1_500)
  t.match(await inbound.greeting('127.0.9.1'), /^220 /)
  t.equal(await mute[0]?.reply(), 'closed')
  t.equal(await dripping.reply(), 'closed', 'to be heard is not to get on')
  t.match(await busy.say('RSET'), /^250 /)
  for (let n = 11; n <= 16; n++) await inbound.talk(`127.0.${n}.1`)
  await clock.advance(10_500)
  const last = await inbound.talk('127.0.20.1')
  t.equal(await busy.reply(), 'closed', 'with nine tenths taken, after a thirtieth')
  t.match(await last.say('NOOP'), /^250 /)
})

t.test('a network has its share of connections, and its addresses share that', async (t) => {
  const config = { connectionsPerNetwork: 3, connectionsPerAddress: 3 }
  const inbound = await startInbound(t, { reads: false, config })
  const greedy = []
  for (let i = 0; i < 3; i++) greedy.push(await inbound.talk('127.0.1.1'))
  t.match(await inbound.greeting('127.0.1.2'), /^220 /, 'a neighbour has a place')
  t.equal(await greedy[0]?.reply(), 'closed')
  t.match(await inbound.greeting('127.0.1.3'), /^220 /)
  t.match(await inbound.greeting('127.0.1.4'), /^421 4\.7\.0 /, 'all have as many')
  t.match(await inbound.greeting('127.0.2.1'), /^220 /)
})

/** Says the line as often as it is let, without waiting; resolves with how many replies came. */
async function flood(port: number, opening: readonly string[], line: string, times: number) {
  const socket = createConnection({ port, host: '127.0.0.1', localAddress: '127.0.1.1' })
  const replies: string[] = []
  socket.setEncoding('latin1').on('data', (text: string) => replies.push(text))
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  while (!replies.join('').startsWith('220 ')) await once(socket, 'data')
  for (const one of opening) {
    const before = replies.length
    socket.write(`${one}\r\n`)
    while (replies.length === before) await once(socket, 'data')
  }
  socket.write(`${line}\r\n`.repeat(times))
  await closed
  return replies.join('').split('\r\n').slice(0, -1)
}

t.test(
  'a session that is refused 51 times, or says much and brings nothing, is ended',
  async (t) => {
    const clock = new FakeClock()
    const inbound = await startInbound(t, { reads: false, clock })
    const hello = ['EHLO client.test', 'MAIL FROM:<>']
    for (let i = 0; i < 20; i++) {
      const client = await inbound.talk('127.0.1.1')
      t.match(await client.upToData(['postmaster']), /^354 /)
      client.write('\r\n.\r\nQUIT\r\n')
      await client.reply()
      while ((await client.reply()) !== 'closed');
    }
    const refused = await flood(inbound.port, hello, 'RCPT TO:<postmaster>', 100_000)
    t.equal(refused.filter((line) => line.startsWith('450 4.7.1')).length, 50)
    t.equal(refused.at(-1), '421 4.7.0 Too many refused commands')
    for (const line of ['NOOP', 'RSET', 'EHLO client.test', 'VRFY ada']) {
      const answers = await flood(inbound.port, [], line, 10_000)
      t.equal(answers.at(-1), '421 4.7.0 Too many commands', line)
    }
    const strangers = await flood(inbound.port, hello, 'DATA', 10_000)
    t.equal(strangers.at(-1), '421 4.7.0 Too many refused commands')
  },
)
