import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import type { SmartHost } from '../../src/config/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { makeConnectionSlots } from '../../src/outbound/connections/connection-slots.js'
import { makeRelays } from '../../src/outbound/egress/relays.js'
import { openRelay } from '../../src/outbound/egress/smart-host.js'
import { relayVerdictOf } from '../../src/outbound/egress/verdict.js'
import type { Phase } from '../../src/smtp/index.js'
import { queueClass } from '../../src/store/index.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { watchSockets } from '../support/open-sockets.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

const certificates = await testCertificates(t, 'relay.test')
const { valid, wrongName, selfSigned } = certificates
const of = queueClass.transactional
const envelope = { from: 'bounce+1@out.test', to: 'ada@example.test' }
const message = [Buffer.from('Subject: Hi\r\n\r\nHello\r\n')]
const withAuth = ['PIPELINING', 'SIZE 1000', '8BITMIME', 'DSN', 'AUTH PLAIN LOGIN']
const usual: SmartHost = {
  host: 'relay.test',
  port: 0,
  tls: 'starttls',
  user: '',
  passwordFile: '',
  passwordEnv: '',
  caFile: certificates.ca.certFile,
  sourceAddresses: [],
  connections: 4,
  messagesPerMinute: 6_000,
}
const login = { user: 'posthorn', passwordEnv: 'SECRET' } as const

/** A fake smart host and our side of it. */
async function open(t: Test, script: MxScript, settings: Partial<SmartHost> = {}) {
  const mx = await fakeMx(t, { tls: valid, capabilities: withAuth, ...script })
  return { mx, ...openTo(t, { port: mx.port, ...settings }) }
}

function openTo(
  t: Test,
  settings: Partial<SmartHost>,
  connectionSlots = makeConnectionSlots(500, silentMeter),
) {
  const said: string[] = []
  const log: Log = {
    ...silentLog,
    error: (_, message) => said.push(message),
    warn: (_, message) => said.push(message),
  }
  const resolver = fakeResolver({ 'relay.test': { a: ['127.0.0.1'] } })
  const relay = openRelay(
    { ...usual, ...settings },
    {
      clock: systemClock,
      resolver,
      log,
      heloName: 'out.test',
      random: () => 0,
      connectionSlots,
      thread: 0,
      threads: 1,
      env: { SECRET: 'pass word' },
    },
  )
  t.teardown(() => relay.destroy())
  return { relay, said, offer: (to = envelope.to) => relay.offer({ ...envelope, to }, message) }
}

const commandsOf = (mx: FakeMx, pattern: RegExp) =>
  mx.sessions.flatMap(({ commands }) => commands.filter((line) => pattern.test(line)))

t.test(
  'mail is handed over encrypted, logged in, with reports asked for, on one session',
  async (t) => {
    const { mx, offer } = await open(t, {}, login)
    t.match(await offer(), {
      verdict: 'relayed',
      reply: '250 2.0.0 accepted',
      remote: 'relay.test [127.0.0.1]',
      tls: /^TLSv1\.3 /,
      site: { kind: 'delivered' },
    })
    await offer('bob@example.test')
    t.equal(mx.sessions.length, 1, 'the session is used again')
    t.match(mx.sessions[0], { tls: true, servername: 'relay.test' })
    const plain = Buffer.from('\0posthorn\0pass word').toString('base64')
    t.same(commandsOf(mx, /^AUTH/), [`AUTH PLAIN ${plain}`])
    t.same(commandsOf(mx, /^RCPT/), [
      'RCPT TO:<ada@example.test> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ada@example.test',
      'RCPT TO:<bob@example.test> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;bob@example.test',
    ])
    t.match(mx.messages, [{ from: envelope.from, raw: message[0], parameters: 'SIZE=22 RET=HDRS' }])
  },
)

t.test('a session counts until its socket is closed, at one smart host and over all', async (t) => {
  const script = { quit: 'hang', lingers: true } as const
  const one = await fakeMx(t, script)
  const others = [await fakeMx(t, script), await fakeMx(t, script)]
  const sockets = watchSockets(t)
  const plain = { tls: 'off', connections: 1 } as const
  const connectionSlots = makeConnectionSlots(2, silentMeter)
  const first = openTo(t, { port: one.port, ...plain }, connectionSlots)
  for (let i = 0; i <= 100; i++) await first.offer()
  t.equal(one.sessions.length, 2, 'a hundred mails a session')
  t.equal(sockets.most(), 1)
  for (const { port } of others) {
    t.match(await openTo(t, { port, ...plain }, connectionSlots).offer(), { verdict: 'relayed' })
  }
  t.equal(sockets.most(), 2, 'the longest idle one made room')
  await one.waitUntil(() => one.sessions[1]?.commands.at(-1) === 'QUIT')
})

t.test('AUTH LOGIN, implicit TLS, no TLS at all where there is no password', async (t) => {
  const lines = ['334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6', '235 2.7.0 welcome']
  const old = await open(t, { capabilities: ['AUTH LOGIN'], auth: lines }, login)
  t.equal((await old.offer()).verdict, 'relayed')
  t.same(commandsOf(old.mx, /^RCPT/), ['RCPT TO:<ada@example.test>'], 'no DSN where it is unknown')
  const implicit = await open(t, { implicitTls: true }, { ...login, tls: 'implicit' })
  t.equal((await implicit.offer()).verdict, 'relayed')
  t.equal(commandsOf(implicit.mx, /STARTTLS/).length, 0)
  const local = await open(t, {}, { tls: 'off' })
  t.equal((await local.offer()).verdict, 'relayed')
  t.equal(local.mx.sessions[0]?.tls, false)
})

t.test('it is reached from the source address that it knows', async (t) => {
  const { mx, offer } = await open(t, {}, { sourceAddresses: ['::1', '127.0.0.7'] })
  t.equal((await offer()).verdict, 'relayed')
  t.equal(mx.sessions[0]?.remoteAddress, '127.0.0.7')
  const other = await open(t, {}, { sourceAddresses: ['::1'] })
  t.match((await other.offer()).reply, /^No session with .* \(connect\): ::1 cannot reach it$/)
  t.equal(other.mx.sessions.length, 0, 'no other address stands in')
})

t.test('no password and no mail without a certificate that is good', async (t) => {
  const broken: [string, MxScript, Partial<SmartHost>?][] = [
    ['another name', { tls: wrongName }],
    ['nobody’s', { tls: selfSigned }],
    ['nobody’s, implicit', { tls: selfSigned, implicitTls: true }, { tls: 'implicit' }],
    ['STARTTLS refused', { startTls: '454 4.7.0 not now' }],
    ['STARTTLS stripped', { ehlo: '250-relay.test\r\n250 AUTH PLAIN' }],
  ]
  for (const [what, script, settings] of broken) {
    const { mx, offer, said } = await open(t, script, { ...login, ...settings })
    const offered = await offer()
    t.match(offered, { verdict: 'not taken', site: { kind: 'connect-failed' } }, what)
    t.match(offered.reply, /^No session with the smart host relay\.test:\d+ \(starttls\): /)
    t.same(commandsOf(mx, /AUTH |MAIL|pass|cGFzcyB/), [], what)
    t.match(said, [/the smart host takes no mail/])
  }
})

t.test('a wrong or missing password keeps the mail, and is told once', async (t) => {
  const { offer, said, relay } = await open(t, { auth: '535 5.7.8 wrong' }, login)
  for (let i = 0; i < 2; i++) {
    relay.room.started(of)
    const offered = await offer()
    t.match(offered.reply, /\(auth\): 535 5\.7\.8 wrong$/)
    t.notMatch(offered.transcript, /cGFzcyB3b3Jk|pass word/)
    relay.room.ended(of, offered.site)
  }
  t.same(said, ['Failover: the smart host takes no mail'])
  t.match(relay.room.mayStart(of), { gate: 'suspended' }, 'nobody hammers at the login')

  const passwordFile = join(makeTempDir(t), 'password')
  const later = await open(t, {}, { user: 'posthorn', passwordFile })
  t.match((await later.offer()).reply, /\(auth\): Cannot read the password .*ENOENT/)
  writeFileSync(passwordFile, 'secret\n')
  t.equal((await later.offer()).verdict, 'relayed', 'read again, without a restart')
  t.same(later.said.at(-1), 'Failover: the smart host takes mail again')
})

// What the smart host answers to which command, and what that means for the mail.
const verdicts: readonly [Phase, string, 'bounced' | 'not taken'][] = [
  ['rcpt', '550 5.1.1 no such user', 'bounced'],
  ['rcpt', '550 5.2.1 disabled', 'bounced'],
  ['rcpt', '550 5.1.1 <a@b>: User unknown in relay recipient table', 'bounced'],
  ['rcpt', '550 No such user here', 'bounced'],
  ['rcpt', '450 4.2.1 later', 'not taken'],
  ['rcpt', '554 5.7.1 <a@b>: Relay access denied', 'not taken'],
  ['rcpt', '550 5.1.1 relaying denied', 'not taken'],
  ['rcpt', '550 relay not permitted', 'not taken'],
  ['rcpt', '550 5.1.8 sender domain does not resolve', 'not taken'],
  ['rcpt', '530 5.7.0 authentication required', 'not taken'],
  ['rcpt', '550 Sender verify failed', 'not taken'],
  ['rcpt', '552 5.2.2x too much', 'not taken'],
  ['mail', '550 5.1.1 from address not verified', 'not taken'],
  ['mail', '552 5.3.4 too big', 'not taken'],
  ['dot', '554 5.7.1 spam', 'not taken'],
  ['dot', '554 Message rejected: Email address is not verified', 'not taken'],
]

t.test('only what is said of the recipient ends a mail', async (t) => {
  for (const [phase, reply, verdict] of verdicts) {
    const { mx, offer } = await open(t, { [phase]: reply })
    t.equal((await offer()).verdict, verdict, `${phase}: ${reply}`)
    t.equal(mx.messages.length, 0)
  }
  const { mx, offer } = await open(t, { capabilities: ['SIZE 10'] })
  t.match(await offer(), {
    verdict: 'not taken',
    reply: /did not take it: 552 5\.3\.4 posthorn: the message has 22 bytes/,
  })
  t.same(commandsOf(mx, /MAIL/), [], 'it said so before')
  const lost = { kind: 'lost', offered: true, cause: 'reset' } as const
  t.equal(relayVerdictOf({ ...lost, phase: 'dot', ambiguous: true }), 'in doubt')
  t.equal(relayVerdictOf({ ...lost, phase: 'body', ambiguous: false }), 'not taken')
})

t.test('a session that ended while idle costs the mail nothing', async (t) => {
  const { mx, offer } = await open(t, {})
  await offer()
  await mx.interject('drop')
  await mx.waitUntil(() => mx.sessions.every(({ closed }) => closed))
  t.equal((await offer()).verdict, 'relayed')
  t.equal(mx.sessions.length, 2)
})

t.test('the next smart host takes what those before it do not', async (t) => {
  const first = await open(t, { mail: '550 5.7.1 quota used up' })
  const second = await open(t, {})
  const relays = makeRelays([first.relay, second.relay])
  const deliver = async () => {
    const relay = relays.start(of)
    if ('gate' in relay) throw new Error(relay.why)
    const offered = await relays.deliver(relay, of, envelope, message)
    relay.room.ended(of, offered.site)
    return { ...offered, by: relay === first.relay ? 'first' : 'second' }
  }
  t.match(await deliver(), { by: 'first', verdict: 'relayed', site: { kind: 'bounced' } })
  t.equal(second.mx.messages.length, 1)
  t.equal(first.relay.room.mayStart(of), undefined, 'one mail says little')

  first.mx.change({ mail: '250 ok', dot: 'drop' })
  t.match(await deliver(), { by: 'first', verdict: 'in doubt' })
  t.equal(second.mx.messages.length, 1, 'what the first may have is not given to the second')

  first.mx.change({ banner: '554 5.3.2 closed' })
  t.match(await deliver(), { by: 'first', verdict: 'relayed' })
  t.match(await deliver(), { by: 'first', verdict: 'relayed' })
  t.match(await deliver(), { by: 'second', verdict: 'relayed' }, 'the first is out of order')

  second.mx.change({ rcpt: '450 4.7.1 later' })
  t.match(await deliver(), { verdict: 'not taken', reply: /later/ })
})

t.test('who takes no login passes its mail to the next at once, busy or not', async (t) => {
  const first = await open(t, { auth: '535 5.7.8 wrong' }, login)
  const second = await open(t, {}, { connections: 3 })
  const relays = makeRelays([first.relay, second.relay])
  for (let busy = 0; busy < 2; busy++) second.relay.room.started(of)
  t.match(second.relay.room.mayStart(of), { gate: 'connections' }, 'more are not earned yet')
  const deliver = () => relays.deliver(first.relay, of, envelope, message)
  t.match(await deliver(), { verdict: 'relayed', site: { kind: 'connect-failed' } })
  second.relay.room.started(of)
  t.match(await deliver(), { verdict: 'not taken' }, "but never above the operator's limit")
})

t.test('when none works, it is told when to ask again; a busy one is waited for', async (t) => {
  const one = openTo(t, { host: '127.0.0.1', port: 1, connections: 1 })
  const two = await open(t, {}, { connections: 1 })
  const relays = makeRelays([one.relay, two.relay])
  one.relay.room.started(of)
  t.match(relays.start(of), { gate: 'connections' }, 'the first is busy, and comes first')
  const failed = await one.offer()
  t.match(failed, { verdict: 'not taken', reply: /\(connect\): .*ECONNREFUSED/ })
  one.relay.room.ended(of, failed.site)
  t.equal(relays.start(of), two.relay)
  two.relay.room.ended(of, { kind: 'connect-failed', cause: 'timeout' })
  const held = relays.start(of)
  t.match(held, { gate: 'suspended' })
  t.ok('gate' in held && held.until !== null && held.until > Date.now())
})
