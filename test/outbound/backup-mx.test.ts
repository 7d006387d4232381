import t, { type Test } from 'tap'
import type { StaticRecords } from '../../src/dns/index.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { type OutboundRig, outboundRig, pass, type RigOptions } from '../support/outbound.js'

/** A domain with an MX for each script, in this order; the last one is `rig.mx`. */
async function rigOf(t: Test, scripts: readonly MxScript[], options: RigOptions = {}) {
  const names = scripts.map((_, at) => `${'abcdef'[at]}.x.test`)
  const addresses = scripts.map((_, at) =>
    at === scripts.length - 1 ? '127.0.0.1' : `127.0.0.${at + 2}`,
  )
  const dns: StaticRecords = {
    'x.test': { mx: names.map((exchange, at) => ({ exchange, preference: 10 * (at + 1) })) },
    ...Object.fromEntries(names.map((name, at) => [name, { a: [addresses[at] ?? ''] }])),
  }
  const rig = await outboundRig(t, { dns, ...options, script: scripts.at(-1) ?? {} })
  const servers: FakeMx[] = []
  for (const [at, script] of scripts.slice(0, -1).entries()) {
    servers.push(await fakeMx(t, { ...script, host: addresses[at] ?? '', port: rig.mx.port }))
  }
  return { rig, servers: [...servers, rig.mx] }
}

const attempted = (rig: OutboundRig, id: string, attempts: number) =>
  rig.until(id, ({ recipients }) => recipients[0]?.attempts === attempts)
const offeredMail = ({ sessions }: FakeMx) =>
  sessions.filter(({ commands }) => commands.some((line) => line.startsWith('MAIL'))).length
const sessionsOf = (servers: readonly FakeMx[]) => servers.map(({ sessions }) => sessions.length)

const soft: Record<string, MxScript> = {
  '451 to MAIL': { mail: '451 4.3.1 no space left on the spool' },
  '450 to RCPT': { rcpt: '450 4.2.0 greylisted' },
  '451 to RCPT, without PIPELINING': { rcpt: '451 4.7.1 later', capabilities: ['8BITMIME'] },
  '421 to RCPT': { rcpt: { last: '421 4.7.0 not now\r\n' } },
  '421 to DATA': { data: { last: '421 4.3.2 going down\r\n' } },
  '451 to DATA': { data: '451 4.3.0 no' },
  '451 to the dot': { dot: '451 4.3.0 scanner is down' },
  '421 to the dot': { dot: { last: '421 4.3.0 scanner is down\r\n' } },
  'closes after MAIL': { mail: 'drop' },
  'closes after RCPT': { rcpt: 'drop' },
  'closes after DATA': { data: 'drop' },
  'resets after MAIL': { mail: 'rst' },
  'nonsense after MAIL': { mail: 'what?' },
  '354 to MAIL': { mail: '354 go ahead' },
  '421 as banner': { banner: { last: '421 4.3.2 busy\r\n' } },
  'closes before its banner': { banner: 'drop' },
}

t.test('a first MX that does not take the mail now leads to the second one at once', async (t) => {
  const names = Object.keys(soft)
  const first = (at: number) => `127.0.2.${at + 1}`
  const dns = Object.fromEntries(
    names.flatMap((_, at) => [
      [
        `x${at}.test`,
        {
          mx: [
            { preference: 20, exchange: `b.x${at}.test` },
            { preference: 10, exchange: `a.x${at}.test` },
          ],
        },
      ],
      [`a.x${at}.test`, { a: [first(at)] }],
      [`b.x${at}.test`, { a: ['127.0.0.1'] }],
    ]),
  )
  const rig = await outboundRig(t, { dns })
  for (const [at, name] of names.entries()) {
    const server = await fakeMx(t, { ...soft[name], host: first(at), port: rig.mx.port })
    const before = rig.mx.messages.length
    // One after the other, and more than a cohort of the site: no failure of one host suspends it.
    for (const who of ['a', 'b', 'c']) {
      const id = await rig.send({ to: `${who}@x${at}.test` })
      const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts !== 0)
      t.match(recipients, [{ attempts: 1, reply: '250 2.0.0 accepted' }], name)
    }
    t.same([server.messages.length, rig.mx.messages.length - before], [0, 3], name)
  }
  const { transcript } = await rig.store.read
    .selectFrom('deliveries')
    .select('transcript')
    .where('recipient', '=', 'c@x0.test')
    .executeTakeFirstOrThrow()
  const both =
    /^a\.x0\.test \[127\.0\.2\.1\]:\n[\s\S]* S: 451 [\s\S]*\nb\.x0\.test \[127\.0\.0\.1\]:\n/
  t.match(transcript, both, 'the record has both')
})

t.test('a refusal, and a loss behind the final dot, go to no other host', async (t) => {
  const final: Record<string, MxScript> = {
    mail: { mail: '550 5.1.1 no such user' },
    rcpt: { rcpt: '550 5.1.1 no such user' },
    data: { data: '550 5.1.1 no such user' },
    dot: { dot: '550 5.1.1 no such user' },
  }
  for (const [phase, script] of Object.entries(final)) {
    const { rig, servers } = await rigOf(t, [script, {}])
    await rig.becomes(await rig.send({ to: 'a@x.test' }), 'bounced')
    t.same(sessionsOf(servers), [1, 0], phase)
  }
  const { rig, servers } = await rigOf(t, [{ dot: 'rst' }, {}])
  const { recipients } = await attempted(rig, await rig.send({ to: 'a@x.test' }), 1)
  t.match(recipients, [{ status: 'deferred', reply: /may have taken the message$/ }])
  t.same(sessionsOf(servers), [1, 0], 'it may have the mail')
})

t.test(
  'two hosts are offered the mail in an attempt, the others first in the next one',
  async (t) => {
    const clock = new FakeClock()
    const later = { mail: '451 4.3.1 not now' }
    const { rig, servers } = await rigOf(t, [later, later, later, later, {}], { clock })
    const id = await rig.send({ to: 'a@x.test' })
    await attempted(rig, id, 1)
    t.same(servers.map(offeredMail), [1, 1, 0, 0, 0])
    await rig.stop()
    await rig.start()
    await pass(rig, clock, 6 * 60_000)
    await attempted(rig, id, 2)
    t.same(servers.map(offeredMail), [1, 1, 1, 1, 0], 'a restart does not forget it')
    await pass(rig, clock, 12 * 60_000)
    t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 3 }])
    t.same(servers.map(offeredMail), [1, 1, 1, 1, 1])
    const left = await rig.store.read.selectFrom('queue').select('id').execute()
    t.same(left, [])
  },
)

t.test('hosts that all put it off have it in turn again', async (t) => {
  const clock = new FakeClock()
  const greylists = () => {
    const seen = new Set<string>()
    return (address: string) => {
      if (seen.has(address)) return '250 ok'
      seen.add(address)
      return '450 4.7.1 greylisted'
    }
  }
  const { rig, servers } = await rigOf(t, [{ rcpt: greylists() }, { rcpt: greylists() }], { clock })
  const id = await rig.send({ to: 'a@x.test' })
  await attempted(rig, id, 1)
  await pass(rig, clock, 6 * 60_000)
  t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 2 }])
  t.same(
    servers.map(({ messages }) => messages.length),
    [1, 0],
    'the first MX first',
  )
})

t.test('hosts that leave us waiting are behind the others next time', async (t) => {
  const clock = new FakeClock()
  const mute = { banner: 'drop' } as const
  const { rig, servers } = await rigOf(t, [mute, mute, mute, {}], { clock })
  const id = await rig.send({ to: 'a@x.test' })
  await attempted(rig, id, 1)
  t.same(sessionsOf(servers), [1, 1, 0, 0])
  await pass(rig, clock, 20 * 60_000)
  t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 2 }])
})

t.test('what the first host said stands where the second one is dead', async (t) => {
  const { rig } = await rigOf(t, [{ mail: '451 4.3.1 no space' }, { banner: 'drop' }])
  for (const who of ['a', 'b', 'c']) {
    const { recipients } = await attempted(rig, await rig.send({ to: `${who}@x.test` }), 1)
    t.match(recipients, [{ status: 'deferred', reply: '451 4.3.1 no space' }])
  }
  t.equal(rig.mx.sessions.length, 3, 'and the site is not suspended')
})

t.test('a backup that refuses to relay ends nothing while the first host is away', async (t) => {
  const clock = new FakeClock()
  const { rig, servers } = await rigOf(
    t,
    [
      { rcpt: ['450 4.7.1 greylisted', '450 4.7.1 greylisted', '250 ok'] },
      { rcpt: '554 5.7.1 <a@x.test>: Relay access denied' },
    ],
    { clock },
  )
  const id = await rig.send({ to: 'a@x.test' })
  await pass(rig, clock, 20 * 60_000)
  t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 3 }])
  t.equal(servers[0]?.messages.length, 1)
  t.test('nor while that cannot be reached', async (t) => {
    const clock = new FakeClock()
    const relay = '554 5.7.1 <a@x.test>: Relay access denied'
    const { rig } = await rigOf(t, [{ banner: 'drop' }, { rcpt: relay }], { clock })
    const id = await rig.send({ to: 'a@x.test' })
    await pass(rig, clock, 20 * 60_000)
    t.match((await attempted(rig, id, 3)).recipients, [{ status: 'deferred', reply: relay }])
  })
  t.test('but one that says that nobody is there does', async (t) => {
    const { rig } = await rigOf(t, [
      { rcpt: '450 4.7.1 greylisted' },
      { rcpt: '550 5.1.1 no such user here' },
    ])
    await rig.becomes(await rig.send({ to: 'a@x.test' }), 'bounced')
  })
})

t.test('what EHLO declines is asked of the next host', async (t) => {
  const lacking: Record<string, { capabilities: readonly string[]; to?: string; why: RegExp }> = {
    SIZE: {
      capabilities: ['PIPELINING', 'SIZE 500'],
      why: /^552 5\.3\.4 posthorn: the message has/,
    },
    SMTPUTF8: {
      capabilities: ['PIPELINING', '8BITMIME'],
      to: 'jürgen@x.test',
      why: /^553 5\.6\.7 posthorn: .* SMTPUTF8, which the address of the recipient needs$/,
    },
    '8BITMIME': {
      capabilities: ['PIPELINING', 'SMTPUTF8'],
      to: 'jürgen@x.test',
      why: /^554 5\.6\.3 posthorn: .* 8BITMIME, which the header field To needs$/,
    },
  }
  for (const [name, { capabilities, to = 'a@x.test', why }] of Object.entries(lacking)) {
    t.test(name, async (t) => {
      const lame = { capabilities }
      const { rig, servers } = await rigOf(t, [lame, lame, lame, {}])
      const { recipients } = await rig.becomes(await rig.send({ to }), 'delivered')
      t.match(recipients, [{ attempts: 1 }])
      t.same(servers.map(offeredMail), [0, 0, 0, 1])
      const none = await rigOf(t, [lame, lame])
      const refused = await none.rig.becomes(await none.rig.send({ to }), 'bounced')
      t.match(refused.recipients, [{ attempts: 1, reply: why }])
      const away = await rigOf(t, [lame, { banner: 'drop' }])
      const waits = await attempted(away.rig, await away.rig.send({ to }), 1)
      t.match(waits.recipients, [{ status: 'deferred', reply: why }], 'the other is away')
    })
  }
})

t.test('a session with the second host is for mail that the first one put off', async (t) => {
  const { rig, servers } = await rigOf(t, [
    { rcpt: (address) => (address.startsWith('grey') ? '450 4.7.1 greylisted' : '250 ok') },
    {},
  ])
  for (const who of ['grey1', 'white1', 'grey2', 'white2', 'grey3']) {
    await rig.becomes(await rig.send({ to: `${who}@x.test` }), 'delivered')
  }
  t.same(
    servers.map(({ messages }) => messages.map(({ to }) => to[0])),
    [
      ['white1@x.test', 'white2@x.test'],
      ['grey1@x.test', 'grey2@x.test', 'grey3@x.test'],
    ],
  )
  t.equal(servers[1]?.sessions.length, 1, 'which is used again')
})

t.test(
  'a receiver that asks for slower mail is heard, also where its other host takes it',
  async (t) => {
    const { rig } = await rigOf(t, [{ mail: '451 4.7.0 you are throttled' }, {}], {
      shaping: [
        '[[default.automation]]\nname = "throttled"\npattern = "throttl"\ncode = "4"',
        'action = "slow down"\nmessages_per_minute = 1\nconnections = 1\nfor = "90m"',
      ].join('\n'),
    })
    await rig.becomes(await rig.send({ to: 'a@x.test' }), 'delivered')
    await rig.send({ to: 'b@x.test' })
    const stream = { lane: 'x.test', class: 0, accountId: rig.accountId } as const
    await rig.eventually(() => rig.gateOf(stream)?.gate === 'rate')
    t.match(rig.gateOf(stream)?.says, / 1 message a minute until .* you are throttled$/)
  },
)

t.test('a host with many dead addresses leaves room for the second one', async (t) => {
  const dead = [11, 12, 13, 14, 15, 16].map((last) => `127.0.0.${last}`)
  const rig = await outboundRig(t, {
    dns: {
      'x.test': {
        mx: [
          { preference: 10, exchange: 'a.x.test' },
          { preference: 20, exchange: 'b.x.test' },
        ],
      },
      'a.x.test': { a: dead },
      'b.x.test': { a: ['127.0.0.1'] },
    },
  })
  const { recipients } = await rig.becomes(await rig.send({ to: 'a@x.test' }), 'delivered')
  t.match(recipients, [{ attempts: 1 }])
})

t.test('a host that leaves after each mail costs none an attempt', async (t) => {
  let mails = 0
  const rig = await outboundRig(t, {
    script: { mail: () => (mails++ % 2 === 0 ? '250 ok' : 'drop') },
  })
  for (const who of ['a', 'b', 'c', 'd']) {
    const { recipients } = await rig.becomes(await rig.send({ to: `${who}@x.test` }), 'delivered')
    t.match(recipients, [{ attempts: 1 }])
  }
})
