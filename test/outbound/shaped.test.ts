import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { expireOverdue } from '../../src/deliveries/index.js'
import { readStatus } from '../../src/doctor/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import type { MxSession } from '../support/fake-mx-script.js'
import { leased, type OutboundRig, outboundRig, pass, shapedTo } from '../support/outbound.js'

const minuteMs = 60_000
const many = (rig: OutboundRig, count: number, domain = 'one.test') =>
  Promise.all(Array.from({ length: count }, (_, i) => rig.send({ to: `r${i}@${domain}` })))
const tried = async ({ store }: OutboundRig) =>
  (await store.read.selectFrom('queue').select('id').where('attempts', '>', 0).execute()).length

t.test('domains with the same MXs share the connections of their site', async (t) => {
  const rig = await outboundRig(t, {
    script: { rcpt: 'hang' },
    shaping: shapedTo({ connections: 3 }),
    stopped: true,
  })
  for (let i = 0; i < 10; i++) await many(rig, 3, `d${i}.test`)
  await rig.start()
  await rig.mx.waitUntil(() => rig.mx.sessions.length === 3)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(rig.mx.sessions.length, 3)
  t.equal(await leased(rig), 3)
})

t.test('a small site begins with two connections and earns more', async (t) => {
  const script = { dot: { reply: '250 ok', delayMs: 5 } }
  const rig = await outboundRig(t, { script, shaping: '', stopped: true })
  let most = 0
  const ids = await many(rig, 60)
  await rig.start()
  await rig.mx.waitForMessages(1)
  t.ok(rig.mx.sessions.length <= 2)
  for (const id of ids) await rig.becomes(id, 'delivered')
  most = rig.mx.sessions.length
  t.ok(most > 2 && most <= 10, `${most} sessions`)
})

t.test('a rate holds, and the gate says so', async (t) => {
  const clock = new FakeClock()
  const shaping = '[providers.fake]\nmx = ["mx.test"]\nmessages_per_minute = 60'
  const rig = await outboundRig(t, { clock, shaping })
  const ids = await many(rig, 5)
  await rig.mx.waitForMessages(1)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'rate')
  t.match(rig.gateOf(key), { says: /fake: 60 messages a minute/, until: Number })
  const before = rig.mx.messages.length
  t.ok(before <= 2)
  await pass(rig, clock, 5_000, 1_000)
  for (const id of ids) await rig.becomes(id, 'delivered')
})

t.test('a clock that is set back by hours does not stop mail for as long', async (t) => {
  const clock = new FakeClock()
  const shaping = '[providers.fake]\nmx = ["mx.test"]\nmessages_per_minute = 60'
  const rig = await outboundRig(t, { clock, shaping })
  await many(rig, 5)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'rate')
  await rig.eventually(async () => (await leased(rig)) === 0)
  clock.setBack(2 * 60 * minuteMs)
  const ids = await many(rig, 3)
  await pass(rig, clock, 8_000, 1_000)
  for (const id of ids) await rig.becomes(id, 'delivered')
})

t.test('words that mean "suspend" stop a site for its time, then one mail tries it', async (t) => {
  const clock = new FakeClock()
  const shaping = `${shapedTo({ connections: 4 })}
[[providers.fake.automation]]
name = "busy"
pattern = "server busy"
action = "suspend"
for = "30m"
`
  const rig = await outboundRig(t, {
    clock,
    shaping,
    script: { mail: '451 4.3.2 Server busy, go away' },
    stopped: true,
  })
  const ids = await many(rig, 50)
  await rig.start()
  await rig.mx.waitUntil(() => rig.mx.sessions.length > 0)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
  t.match(rig.gateOf(key)?.says, /The receiver answered: 451 4.3.2 Server busy/)
  await rig.eventually(async () => (await leased(rig)) === 0)
  const before = await tried(rig)
  t.ok(before <= 4, `${before} of 50 were tried before it was clear`)
  await pass(rig, clock, 20 * minuteMs)
  t.equal(await tried(rig), before, 'nothing is tried meanwhile')
  await clock.advance(11 * minuteMs)
  await rig.eventually(async () => (await tried(rig)) > before)
  await rig.eventually(async () => (await leased(rig)) === 0)
  t.equal((await tried(rig)) - before, 1, 'one probes')
  rig.mx.change({ mail: '250 ok' })
  await clock.advance(31 * minuteMs)
  for (const id of ids) await rig.becomes(id, 'delivered')
})

t.test('too many connections: fewer of them, and no rate', async (t) => {
  const clock = new FakeClock()
  const full = '421 4.7.0 mx.test Error: too many connections from 192.0.2.1'
  const rig = await outboundRig(t, { clock, script: { banner: [full, '220 mx.test'] } })
  const first = await rig.send({ to: 'first@one.test' })
  await rig.until(first, ({ recipients }) => recipients[0]?.status === 'deferred')
  const ids = await many(rig, 14)
  for (const id of ids) await rig.becomes(id, 'delivered')
  t.equal(rig.mx.messages.length, 14, 'and the clock stood still')
})

t.test('too much mail: the site waits for its next minute', async (t) => {
  const clock = new FakeClock()
  const much = '450 4.7.1 <out.test>: Client host rejected: Error: too much mail from 192.0.2.1'
  const rig = await outboundRig(t, { clock, script: { mail: [much, '250 ok'] } })
  const first = await rig.send({ to: 'first@one.test' })
  await rig.until(first, ({ recipients }) => recipients[0]?.status === 'deferred')
  const ids = await many(rig, 4)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
  t.equal(rig.gateOf(key)?.until, clock.now() + minuteMs)
  await pass(rig, clock, minuteMs + 1_000)
  for (const id of ids) await rig.becomes(id, 'delivered')
})

t.test('a limit of messages in one session costs a mail nothing but another session', async (t) => {
  for (const full of [
    '452 4.3.1 Too many messages for this session',
    { last: '421 Max message per connection reached, closing transmission channel\r\n' },
  ]) {
    const mail = (_: string, { commands }: MxSession) =>
      commands.filter((line) => line.startsWith('MAIL')).length > 3 ? full : '250 ok'
    const rig = await outboundRig(t, {
      clock: new FakeClock(),
      script: { mail },
      shaping: shapedTo({ connections: 1 }),
    })
    for (const id of await many(rig, 10)) {
      const { recipients } = await rig.becomes(id, 'delivered')
      t.equal(recipients[0]?.attempts, 1)
    }
    t.equal(rig.mx.sessions.length, 4, 'three in each')
  }
})

t.test('a session whose first mail was put off carries no other', async (t) => {
  // As postscreen does, which knows a client from its second connection on.
  let passed: MxSession | undefined
  const rcpt = (_: string, session: MxSession) => {
    passed ??= session
    return passed === session ? '450 4.3.2 Service currently unavailable' : '250 ok'
  }
  const rig = await outboundRig(t, { clock: new FakeClock(), script: { rcpt } })
  const first = await rig.send({ to: 'a@one.test' })
  await rig.until(first, ({ recipients }) => recipients[0]?.status === 'deferred')
  for (const id of await many(rig, 3)) await rig.becomes(id, 'delivered')
})

t.test('mail that had no attempt in its time fails at a closed gate too', async (t) => {
  const clock = new FakeClock()
  const { outbound: defaults } = loadConfig({ env: {} })
  const transactional = { ...defaults.retry.transactional, maxAge: 60 * minuteMs }
  const rig = await outboundRig(t, {
    clock,
    config: { retry: { ...defaults.retry, transactional } },
    script: { mail: '421 4.7.0 [TSS04] later' },
    shaping: `${shapedTo({ connections: 1 })}[[providers.fake.automation]]\nname = "T"\npattern = "TSS04"\naction = "suspend"\nfor = "9h"\n`,
  })
  const [tried = '', waiting = ''] = [
    await rig.send({ to: 'a@one.test' }),
    await rig.send({ to: 'b@one.test' }),
  ]
  await rig.until(tried, ({ recipients }) => recipients[0]?.attempts === 1)
  const gateOf = async (stream: Parameters<typeof rig.gateOf>[0]) => rig.gateOf(stream)
  const deps = { ...rig, clock, log: silentLog, land: makeLandEvents([]), gateOf }
  await clock.advance(59 * minuteMs)
  await expireOverdue(deps, new AbortController().signal)
  t.equal((await rig.email(waiting)).status, 'queued')
  await clock.advance(2 * minuteMs)
  await expireOverdue(deps, new AbortController().signal)
  const ended = [await rig.becomes(tried, 'failed'), await rig.becomes(waiting, 'failed')]
  t.match(
    ended.map(({ recipients }) => recipients[0]?.reply),
    [
      /for which mail is tried\. What it last waited for: Nothing .* \[TSS04\] later\. The last reply: 421 4\.7\.0 \[TSS04\] later$/,
      /for which mail is tried\. What it last waited for: Nothing is sent for now to fake: The receiver answered: 421 4\.7\.0 \[TSS04\] later$/,
    ],
  )
  t.equal(rig.backlog.size, 0)
})

t.test('a suspension outlives restarts without mail for its site', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, {
    clock,
    script: { mail: '421 4.7.0 [TSS04] later' },
    shaping: `${shapedTo()}\n[[providers.fake.automation]]\nname = "T"\npattern = "TSS04"\naction = "suspend"\nfor = "2h"\n`,
  })
  await rig.until(await rig.send({ to: 'a@one.test' }), (e) => e.recipients[0]?.attempts === 1)
  rig.mx.change({ mail: '250 ok' })
  rig.resolver.set('mx.elsewhere.test', { a: ['127.0.0.1'] })
  rig.resolver.set('other.test', { mx: [{ preference: 10, exchange: 'mx.elsewhere.test' }] })
  for (let restarts = 0; restarts < 3; restarts++) {
    await rig.stop()
    // Meanwhile no mail waits for the site.
    await rig.store.write((tx) => tx.deleteFrom('queue').execute())
    await rig.start()
    await rig.becomes(await rig.send({ to: 'a@other.test' }), 'delivered')
  }
  const sent = rig.mx.messages.length
  const id = await rig.send({ to: 'b@one.test' })
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
  t.equal(rig.mx.messages.length, sent)
  await clock.advance(121 * minuteMs)
  await rig.becomes(id, 'delivered')
})

t.test('a stop while sites are being saved leaves no timer behind', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, script: { mail: '421 4.7.0 too many connections' } })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.until(id, ({ recipients }) => recipients[0]?.status === 'deferred')
  let goOn = () => {}
  const free = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const busy = rig.store.write(() => free)
  // The save stands behind another write when the stop comes.
  await clock.advance(30_000)
  const stopped = rig.stop()
  await new Promise((resolve) => setImmediate(resolve))
  goOn()
  await Promise.all([busy, stopped])
  await rig.store.write(async () => {})
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(clock.isAwaited)
})

t.test('a retry tries a suspended site with one mail at once, after a restart too', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, {
    clock,
    script: { mail: '421 4.7.0 [TSS04] later' },
    shaping: `${shapedTo()}\n[[providers.fake.automation]]\nname = "T"\npattern = "TSS04"\naction = "suspend"\nfor = "2h"\n`,
  })
  const first = await rig.send({ to: 'a@one.test' })
  await rig.until(first, ({ recipients }) => recipients[0]?.attempts === 1)
  const others = await many(rig, 5)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  const suspended = (until: number) => {
    const gate = rig.gateOf(key)
    return gate?.gate === 'suspended' && gate.until === until
  }
  await rig.eventually(() => suspended(clock.now() + 120 * minuteMs))
  const before = await tried(rig)
  await clock.advance(minuteMs)
  rig.resolver.set('mx.elsewhere.test', { a: ['127.0.0.1'] })
  rig.resolver.set('other.test', { mx: [{ preference: 10, exchange: 'mx.elsewhere.test' }] })
  await rig.retry('other.test')
  t.equal(rig.gateOf(key)?.gate, 'suspended', 'another site ends nothing here')
  await rig.retry('one.test')
  // The probe had the same answer: suspended from now on.
  await rig.eventually(() => suspended(clock.now() + 120 * minuteMs))
  await rig.eventually(async () => (await leased(rig)) === 0)
  const sessions = rig.mx.sessions.flatMap(({ commands }) => commands)
  t.equal(sessions.filter((line) => line.startsWith('MAIL')).length, before + 1)

  await rig.stop()
  rig.mx.change({ mail: '250 ok' })
  await rig.start()
  await rig.retry('one.test')
  for (const id of [first, ...others]) await rig.becomes(id, 'delivered')
})

t.test('a site that takes no connection is parked, not every mail tried in vain', async (t) => {
  const clock = new FakeClock()
  const closed = createServer()
  const port = await new Promise<number>((resolve) => {
    closed.listen(0, '127.0.0.1', () => resolve((closed.address() as AddressInfo).port))
  })
  await new Promise((resolve) => closed.close(resolve))
  const rig = await outboundRig(t, { clock, config: { port }, stopped: true })
  await many(rig, 100)
  await rig.start()
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
  t.match(rig.gateOf(key)?.says, /take no connection/)
  await rig.eventually(async () => (await leased(rig)) === 0)
  const before = await tried(rig)
  t.ok(before <= 30, `${before} of 100 were tried`)
})

t.test(
  'the gate tells what a server says that begins no session, or that it breaks off',
  async (t) => {
    const clock = new FakeClock()
    const shaping = shapedTo({ connections: 1 })
    for (const [script, says] of [
      [{ banner: '554 5.7.1 blocked using a list' }, 'begin no session: 554 5.7.1 blocked using'],
      [{ banner: 'close' }, /begin no session: .+ \(banner\)$/],
      [{ rcpt: 'close' }, /The sessions with its servers break off \(rcpt\): /],
    ] as const) {
      const rig = await outboundRig(t, { clock, script, shaping, stopped: true })
      await many(rig, 2)
      await rig.start()
      const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
      await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
      t.match(rig.gateOf(key)?.says, says)
      await rig.stop()
    }
  },
)

t.test('a domain whose DNS fails is asked again with one mail, others go on', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  rig.resolver.set('bad.test', { fail: 'SERVFAIL' })
  await many(rig, 40, 'bad.test')
  const good = await rig.send({ to: 'a@good.test' })
  await rig.start()
  await rig.becomes(good, 'delivered')
  const key = { lane: 'bad.test', class: 0, accountId: rig.accountId } as const
  await rig.eventually(() => rig.gateOf(key)?.gate === 'suspended')
  await rig.eventually(async () => (await leased(rig)) === 0)
  const before = await tried(rig)
  t.ok(before <= 4, `${before} were tried`)
  t.match(rig.gateOf(key), {
    says: /^Nothing is sent for now to bad\.test: DNS failed: MX of bad\.test/,
    until: clock.now() + minuteMs,
  })
  rig.resolver.set('bad.test', { mx: [{ preference: 10, exchange: 'mx.test' }] })
  await clock.advance(minuteMs)
  // What was never tried; the others have their own time.
  await rig.mx.waitForMessages(1 + 40 - before)
})

t.test('a new address sends its ration, and its reserve of transactional mail', async (t) => {
  const clock = new FakeClock()
  const config = { warmUp: 'auto', warmUpReserve: 10 } as const
  const rig = await outboundRig(t, { clock, config, stopped: true })
  await many(rig, 70)
  await rig.start()
  await rig.mx.waitForMessages(60)
  const key = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
  // Not only while it asks for a ration.
  await rig.eventually(() => /day 1/.test(rig.gateOf(key)?.says ?? ''))
  t.match(rig.gateOf(key)?.says, /day 1 of 16, whose 50 mails.*outbound\.warm_up\) \(default\)$/)
  t.equal(rig.mx.messages.length, 60)
  const of = { read: rig.store.read, now: clock.now(), dataDir: rig.dataDir, certificates: [] }
  const settings = loadConfig({ env: {} })
  const outbound = { ...settings.outbound, ...config, route: 'direct' as const }
  const { troubles, warmUp } = await readStatus(
    { ...of, config: { ...settings, outbound } },
    undefined,
  )
  t.match(warmUp, [{ address: 'default', says: /^day 1 of 16: 50 mails today, 60 used/ }])
  t.match(troubles, [
    { text: /^The gate warm-up holds mail until 00:00 UTC, from default: .*outbound\.warm_up\)/ },
  ])
  await clock.advance(24 * 60 * minuteMs)
  await rig.mx.waitForMessages(70)
})

t.test('limits that are read again count at once, what runs stays counted', async (t) => {
  const rig = await outboundRig(t, {
    script: { rcpt: 'hang' },
    shaping: shapedTo({ connections: 2 }),
    stopped: true,
  })
  await many(rig, 10)
  await rig.start()
  await rig.mx.waitUntil(() => rig.mx.sessions.length === 2)
  rig.reshape(shapedTo({ connections: 5 }))
  await rig.mx.waitUntil(() => rig.mx.sessions.length === 5)
  t.equal(await leased(rig), 5)
  rig.reshape(shapedTo({ connections: 1 }))
  await rig.send({ to: 'x@one.test' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(rig.mx.sessions.length, 5, 'nothing new begins')
  t.throws(() => rig.reshape('[default]\nconnections = 0'), /connections/)
})

t.test(
  'a table that is new counts at once for a domain that was mailed, and for what waits',
  async (t) => {
    const clock = new FakeClock()
    const rig = await outboundRig(t, { clock, shaping: shapedTo({ connections: 1 }) })
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
    await rig.becomes(await rig.send({ to: 'a@two.test' }), 'delivered')
    rig.mx.change({ rcpt: 'hang' })
    await many(rig, 4, 'two.test')
    await rig.mx.waitUntil(() => rig.mx.sessions.some(({ commands }) => commands.length > 4))
    const slow = (domain: string) => `\n[domains."${domain}"]\nmessages_per_minute = 1\n`
    rig.reshape(`${shapedTo()}${slow('one.test')}${slow('two.test')}`)
    const keys = ['one.test', 'two.test'].map(
      (lane) => ({ lane, class: 0, accountId: rig.accountId }) as const,
    )
    rig.mx.change({ rcpt: '250 ok' })
    await many(rig, 4)
    for (const key of keys) {
      await rig.eventually(() => rig.gateOf(key)?.gate === 'rate')
      t.match(rig.gateOf(key)?.says, `fake for ${key.lane}`)
    }
  },
)

t.test('where TLS is required nothing goes in the clear', async (t) => {
  const shaping = '[providers.fake]\nmx = ["mx.test"]\ntls = "required"'
  const rig = await outboundRig(t, { shaping })
  const id = await rig.send({ to: 'a@one.test' })
  const email = await rig.until(id, ({ recipients }) => recipients[0]?.attempts === 1)
  t.match(email.recipients[0]?.reply, /^TLS policy of one\.test \(.*providers\.fake.*\) is not met/)
  t.equal(rig.mx.messages.length, 0)
})

t.test('idle sessions make room at a site of many hosts', async (t) => {
  const hosts = ['a', 'b', 'c', 'd'].map((name) => `${name}.mx.test`)
  const rig = await outboundRig(t, {
    dns: Object.fromEntries(
      hosts.flatMap((host, i) => [
        [`d${i}.test`, { mx: [{ preference: 10, exchange: host }] }],
        [host, { a: ['127.0.0.1'] }],
      ]),
    ),
    shaping: shapedTo({ connections: 2 }),
  })
  for (const i of hosts.keys())
    await rig.becomes(await rig.send({ to: `x@d${i}.test` }), 'delivered')
  await rig.mx.waitUntil(() => rig.mx.sessions.filter(({ closed }) => !closed).length <= 2)
  t.equal(rig.mx.sessions.length, 4)
})

t.test('pools: each class and account leaves from its own addresses, in turn', async (t) => {
  const source = (address: string, heloName: string, weight = 1) => ({
    addresses: [address],
    heloName,
    weight,
  })
  const rig = await outboundRig(t, {
    config: {
      pools: {
        usual: {
          sources: [source('127.0.0.2', 'two.test', 2), source('127.0.0.3', 'three.test')],
          classes: ['transactional'],
          accounts: [],
        },
      },
    },
    stopped: true,
  })
  const ids = await many(rig, 9)
  await rig.start()
  for (const id of ids) await rig.becomes(id, 'delivered')
  const from = (address: string) =>
    rig.mx.messages.filter(({ remoteAddress }) => remoteAddress === address).length
  t.same([from('127.0.0.2'), from('127.0.0.3')], [6, 3])
  for (let i = 0; i < 6; i++) {
    await rig.becomes(await rig.send({ to: `single${i}@one.test` }), 'delivered')
  }
  t.same([from('127.0.0.2'), from('127.0.0.3')], [10, 5], 'also where mail comes singly')
  const greetings = rig.mx.sessions.map(
    ({ commands, remoteAddress }) => `${remoteAddress} ${commands[0]}`,
  )
  t.same([...new Set(greetings)].sort(), ['127.0.0.2 EHLO two.test', '127.0.0.3 EHLO three.test'])
})

t.test('what was put off leaves from the same address again', async (t) => {
  const clock = new FakeClock()
  const sources = [10, 11, 12, 13].map((last) => ({
    addresses: [`127.0.0.${last}`],
    heloName: 'out.test',
    weight: 1,
  }))
  // A greylist: the second time the same client comes with the same mail it is let in.
  const seen = new Set<string>()
  const rcpt = (to: string, { remoteAddress, commands }: MxSession) => {
    const triplet = [remoteAddress, commands.findLast((line) => /^MAIL/i.test(line)), to].join()
    if (seen.has(triplet)) return '250 ok'
    seen.add(triplet)
    return '451 4.7.1 Greylisted, come back later'
  }
  const rig = await outboundRig(t, {
    clock,
    script: { rcpt },
    shaping: '',
    config: { pools: { p: { sources, classes: ['transactional'], accounts: [] } } },
  })
  const ids = await many(rig, 12)
  await rig.eventually(async () => (await tried(rig)) === 12)
  t.equal(new Set(rig.mx.sessions.map(({ remoteAddress }) => remoteAddress)).size, 4)
  await pass(rig, clock, 6 * minuteMs, 2_000)
  for (const id of ids) {
    t.match((await rig.becomes(id, 'delivered')).recipients, [{ attempts: 2 }])
  }
})

t.test('an address of one family does not reach the other', async (t) => {
  const rig = await outboundRig(t, {
    config: { sourceAddresses: ['::1'] },
  })
  const id = await rig.send({ to: 'a@one.test' })
  const email = await rig.until(id, ({ recipients }) => recipients[0]?.attempts === 1)
  t.match(email.recipients[0]?.reply, /::1 cannot reach 127\.0\.0\.1/)
})
