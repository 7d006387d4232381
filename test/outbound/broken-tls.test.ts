import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript, type MxSession } from '../support/fake-mx.js'
import { outboundRig, pass } from '../support/outbound.js'
import { testCertificates } from '../support/tls.js'

const { valid } = await testCertificates(t, '*.test')
const wantsCertificate = true
const maxVersion = 'TLSv1.2'
const inTls =
  (act: 'drop' | 'rst', usual = '250 ok') =>
  (_: string, { tls }: MxSession) =>
    tls ? act : usual

/** Servers that take mail in the clear, and how their TLS breaks. */
const broken: Record<string, MxScript> = {
  'wants a certificate, TLS 1.3': { tls: { ...valid, wantsCertificate } },
  'wants a certificate, TLS 1.2': { tls: { ...valid, wantsCertificate, maxVersion } },
  'closes after the handshake, TLS 1.3': { tls: valid, secured: 'drop' },
  'closes after the handshake, TLS 1.2': { tls: { ...valid, maxVersion }, secured: 'drop' },
  'closes at EHLO': { tls: valid, ehlo: inTls('drop', '250-x\r\n250 STARTTLS') },
  'talks nonsense at EHLO': {
    tls: valid,
    ehlo: (_, { tls }) => (tls ? 'what?' : '250-x\r\n250 STARTTLS'),
  },
  'closes at MAIL': { tls: valid, mail: inTls('drop') },
  'closes at MAIL, TLS 1.2': { tls: { ...valid, maxVersion }, mail: inTls('drop') },
  'resets at MAIL': { tls: valid, mail: inTls('rst') },
  'closes at RCPT': { tls: valid, rcpt: inTls('drop') },
  'closes at DATA': { tls: valid, data: inTls('drop', '354 go ahead') },
}
const names = Object.keys(broken)
const addressOf = (at: number) => `127.0.3.${at + 1}`
const dns = Object.fromEntries(
  names.flatMap((_, at) => [
    [`x${at}.test`, { mx: [{ preference: 10, exchange: `mx.x${at}.test` }] }],
    [`mx.x${at}.test`, { a: [addressOf(at)] }],
  ]),
)

const startTls = ({ sessions }: FakeMx) =>
  sessions.filter(({ commands }) => commands.includes('STARTTLS')).length
const mailInTheClear = ({ sessions }: FakeMx) =>
  sessions.filter(({ tls, commands }) => !tls && commands.some((line) => line.startsWith('MAIL')))
    .length

t.test(
  'TLS that breaks after its handshake is done without, where nobody demands it',
  async (t) => {
    const warned: string[] = []
    const rig = await outboundRig(t, {
      dns,
      log: { ...silentLog, warn: (_, message) => warned.push(message) },
    })
    for (const [at, name] of names.entries()) {
      const server = await fakeMx(t, { ...broken[name], host: addressOf(at), port: rig.mx.port })
      for (const who of ['a', 'b']) {
        const id = await rig.send({ to: `${who}@x${at}.test` })
        const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts !== 0)
        t.match(recipients, [{ status: 'delivered', attempts: 1 }], name)
      }
      t.same(
        server.messages.map((message) => message.tls),
        [false, false],
        name,
      )
      t.equal(startTls(server), 1, `${name}: which is remembered`)
      const rows = await rig.store.read
        .selectFrom('deliveries')
        .select(['tls', 'transcript'])
        .where('recipient', 'like', `%@x${at}.test`)
        .orderBy('id')
        .execute()
      for (const row of rows) t.match(row.tls, /^none.*: TLS failed: ./, name)
      t.match(rows[0]?.transcript, /STARTTLS\n[\s\S]*\nmx\.x\d+\.test \[127\.0\.3\.\d+\]:\n/, name)
    }
    t.same(
      warned,
      names.map(() => 'TLS is broken there, mail goes without'),
    )
  },
)

t.test('but nobody gets mail in the clear whose policy demands TLS', async (t) => {
  const { tls } = loadConfig({ env: {} }).outbound
  const domains = Object.fromEntries(names.map((_, at) => [`x${at}.test`, 'require' as const]))
  const rig = await outboundRig(t, { dns, config: { tls: { ...tls, domains } } })
  for (const [at, name] of names.entries()) {
    const server = await fakeMx(t, { ...broken[name], host: addressOf(at), port: rig.mx.port })
    const id = await rig.send({ to: `a@x${at}.test` })
    const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts !== 0)
    t.match(recipients, [{ status: 'deferred', attempts: 1 }], name)
    t.equal(mailInTheClear(server), 0, name)
  }
})

t.test('a server that takes nothing in the clear gets TLS again, and the mail waits', async (t) => {
  const clock = new FakeClock()
  const must = '530 5.7.0 Must issue a STARTTLS command first'
  const rig = await outboundRig(t, {
    clock,
    script: { tls: valid, mail: (_, { tls }) => (tls ? 'drop' : must) },
  })
  const id = await rig.send({ to: 'a@one.test' })
  const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
  t.match(recipients, [{ status: 'deferred', reply: must }])
  rig.mx.change({ mail: (_, { tls }) => (tls ? '250 ok' : must) })
  await pass(rig, clock, 6 * 60_000)
  t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 2 }])
  t.same(
    rig.mx.messages.map(({ tls }) => tls),
    [true],
  )
})

t.test('a server that leaves with TLS and without is not remembered for it', async (t) => {
  const rig = await outboundRig(t, {
    dns: {
      'one.test': {
        mx: [
          { preference: 10, exchange: 'a.one.test' },
          { preference: 20, exchange: 'b.one.test' },
        ],
      },
      'a.one.test': { a: ['127.0.0.2'] },
      'b.one.test': { a: ['127.0.0.1'] },
    },
    script: { tls: valid },
  })
  const first = await fakeMx(t, { host: '127.0.0.2', port: rig.mx.port, tls: valid, mail: 'drop' })
  for (const who of ['a', 'b']) {
    const { recipients } = await rig.becomes(await rig.send({ to: `${who}@one.test` }), 'delivered')
    t.match(recipients, [{ attempts: 1 }], 'the second one has it')
  }
  t.same([first.sessions.length, startTls(first)], [4, 2])
  t.same(
    rig.mx.messages.map(({ tls }) => tls),
    [true, true],
  )
})
