import t, { type Test } from 'tap'
import { loadConfig, type SmartHost } from '../../src/config/index.js'
import type { StaticRecords } from '../../src/dns/index.js'
import type { EmailRecord } from '../../src/emails/index.js'
import { everything, leaveToEvidence, orderScope, readAllScopes } from '../../src/outbound/index.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { outboundRig, pass as passTime } from '../support/outbound.js'
import { startPosthorn } from '../support/posthorn.js'

const minute = 60_000
const hosts = ['one', 'two', 'three', 'four']
// The rig's receiver is at 127.0.0.1; at 127.0.0.2 nobody listens until a test says so.
const at = (address: string): StaticRecords =>
  Object.fromEntries(
    hosts.flatMap((name) => [
      [`${name}.test`, { mx: [{ preference: 10, exchange: `mx.${name}.test` }] }],
      [`mx.${name}.test`, { a: [address] }],
    ]),
  )

interface Options {
  /** Of the receiver of all domains; undefined: there is none. */
  receiver?: MxScript
  smartHost?: MxScript
  settings?: Partial<SmartHost>
}

/** The outbound side with a smart host that a test scripts, and a clock that it moves. */
async function open(t: Test, { receiver, smartHost = {}, settings }: Options = {}) {
  const clock = new FakeClock()
  const relay = await fakeMx(t, smartHost)
  const { failover } = loadConfig({ env: {} }).outbound
  const host: SmartHost = {
    host: '127.0.0.1',
    port: relay.port,
    tls: 'off',
    user: '',
    passwordFile: '',
    passwordEnv: '',
    caFile: '',
    sourceAddresses: [],
    connections: 10,
    messagesPerMinute: 6_000,
    ...settings,
  }
  const rig = await outboundRig(t, {
    clock,
    ...(receiver === undefined ? {} : { script: receiver }),
    dns: at(receiver === undefined ? '127.0.0.2' : '127.0.0.1'),
    config: { failover: { ...failover, smartHosts: [host], sites: 3 } },
  })
  const { store } = rig
  const pass = (ms: number) => passTime(rig, clock, ms, ms > 5 * minute ? 20_000 : 2_000)
  const send = (name: string) => rig.send({ to: `ada@${name}.test` })
  const sent = async (name: string, isSo: (email: EmailRecord) => boolean) =>
    rig.until(await send(name), isSo)
  return {
    rig,
    relay,
    clock,
    pass,
    send,
    store,
    deferred: (name: string) => sent(name, (email) => email.recipients[0]?.status === 'deferred'),
    /** A mail that goes by the smart host; fails when it goes any other way. */
    relayed: (name: string) => sent(name, (email) => email.provider === 'failover'),
    delivered: (name: string) => sent(name, (email) => email.status === 'delivered'),
    order: async (scope: string, orders: 'force' | 'forbid') => {
      await store.write((tx) => orderScope(tx, scope, orders, clock.now()))
      await pass(2_000)
    },
    leave: async () => {
      await store.write((tx) => leaveToEvidence(tx))
      await pass(2_000)
    },
    key: (lane: string) => ({ lane, class: 0, accountId: rig.accountId }) as const,
  }
}

const recipientsOf = (mx: FakeMx) => mx.messages.flatMap(({ to }) => to)

t.test('a blocked way out: mail goes by the smart host, and returns when it works', async (t) => {
  const { rig, relay, pass, deferred, relayed, delivered, send } = await open(t)
  const waiting = []
  for (const name of ['one', 'two', 'three']) waiting.push(await deferred(name))
  t.match(waiting[0]?.recipients, [{ reply: /^No connection \(connect\): .*ECONNREFUSED/ }])
  await pass(14_000)
  const fresh = await relayed('four')
  t.match(fresh, { status: 'sent', provider: 'failover', recipients: [{ status: 'sent' }] })
  t.match(fresh.recipients, [{ reply: '250 2.0.0 accepted' }])
  await pass(5 * minute)
  for (const { id } of waiting) await rig.until(id, (email) => email.provider === 'failover')
  t.same(
    recipientsOf(relay).sort(),
    ['four', 'one', 'three', 'two'].map((n) => `ada@${n}.test`),
  )
  const [raw = ''] = relay.messages.map((message) => message.raw.toString())
  t.match(raw, /^DKIM-Signature: /m, 'signed by us')
  t.match(relay.messages[0]?.from, /@bounce\.sender\.test$/, 'with our return path')
  const said = rig.store.read.selectFrom('deliveries').select('transcript')
  t.match(await said.executeTakeFirst(), { transcript: /^127\.0\.0\.1 \[[\d.]+\]:\n\d+ S: 220 / })

  // The wait after a probe that failed among these is over, too.
  await pass(20 * minute)
  const before = relay.messages.length
  const direct = await fakeMx(t, { host: '127.0.0.2', port: rig.mx.port })
  for (let i = 1; i <= 3; i++) {
    await delivered('four')
    t.equal(direct.messages.length, i)
    if (i < 3) await relayed('four')
    await pass(16_000)
  }
  t.equal(relay.messages.length, before + 2, 'only probes go the primary way meanwhile')
  const after = await Promise.all(['one', 'four', 'three'].map(send))
  for (const id of after) {
    t.equal((await rig.becomes(id, 'delivered')).provider, 'primary')
  }
  t.equal(relay.messages.length, before + 2)
})

t.test(
  'a port blocked by a proxy, which takes connections and closes them, is a blocked way',
  async (t) => {
    const { pass, deferred, relayed, store } = await open(t, { receiver: { banner: 'close' } })
    for (const name of ['one', 'two', 'three']) {
      t.match((await deferred(name)).recipients, [{ reply: /^No connection \(banner\)/ }])
    }
    await pass(14_000)
    t.match(await readAllScopes(store.read), [{ scope: everything, way: 'failover' }])
    await pass(26 * minute)
    const [{ relapses = -1 } = {}] = await readAllScopes(store.read)
    await relayed('four')
    await pass(2_000)
    t.match(await readAllScopes(store.read), [{ relapses: relapses + 1 }], 'a probe fails there')
  },
)

t.test('a probe that fails costs the mail nothing', async (t) => {
  const { relay, pass, deferred, relayed, store } = await open(t)
  for (const name of ['one', 'two', 'three']) await deferred(name)
  await pass(7 * minute)
  t.equal(relay.messages.length, 3, 'what waited is gone')
  await pass(20 * minute)
  const [{ relapses = -1 } = {}] = await readAllScopes(store.read)
  const { recipients } = await relayed('four')
  t.match(recipients, [{ attempts: 1 }], 'the smart host took it in the same attempt')
  await pass(2_000)
  const after = { scope: everything, way: 'failover', relapses: relapses + 1 }
  t.match(await readAllScopes(store.read), [after], 'it was a probe')
})

t.test('mail that is refused for our address goes by the smart host at once', async (t) => {
  const blocked = '550 5.7.1 Service unavailable, blocked using zen.spamhaus.org'
  const rcpt = (to: string) => (to.endsWith('@one.test') ? blocked : '250 ok')
  const { rig, relay, pass, relayed, delivered } = await open(t, { receiver: { rcpt } })
  t.match(await relayed('one'), { status: 'sent', recipients: [{ attempts: 1, status: 'sent' }] })
  await pass(2_000)
  const asked = rig.mx.sessions.length
  t.match(await relayed('one'), { status: 'sent' })
  t.equal(rig.mx.sessions.length, asked, 'the site is not asked again')
  t.match(await delivered('two'), { provider: 'primary' }, 'others are')
  t.same(recipientsOf(relay), ['ada@one.test', 'ada@one.test'])
})

t.test('a burst to a receiver that blocks our address ends by the smart host', async (t) => {
  const rcpt = '550 5.7.1 Service unavailable, blocked using zen.spamhaus.org'
  // Slower than the decision about the way: the refused mails hold all of its room when the others come to it.
  const smartHost = { dot: { reply: '250 2.0.0 accepted', delayMs: 100 } }
  const { rig, relay, pass, send } = await open(t, { receiver: { rcpt }, smartHost })
  const ids = await Promise.all(Array.from({ length: 15 }, () => send('one')))
  // Of those that were refused first, some may have found no room at the smart host: they come again.
  await rig.eventually(() => relay.messages.length >= 12)
  await pass(6 * minute)
  for (const id of ids) await rig.until(id, ({ provider }) => provider === 'failover')
  t.equal(relay.messages.length, 15)
})

t.test('servers that refuse one account’s mail move no mail of others', async (t) => {
  const rcpt = '550 5.7.1 Service unavailable, blocked using zen.spamhaus.org'
  const { rig, pass, relayed, store } = await open(t, { receiver: { rcpt } })
  const other = await rig.addAccount()
  for (const name of ['one', 'two', 'three']) await relayed(name)
  await pass(4_000)
  const ways = async () => (await readAllScopes(store.read)).map(({ scope, way }) => [scope, way])
  const each = ['mx.one.test', 'mx.three.test', 'mx.two.test'].map((site) => [site, 'failover'])
  t.same(await ways(), each, 'each site for itself')
  await rig.send({ to: 'ada@four.test' }, other)
  await rig.eventually(async () => (await ways()).length === 5)
  t.same((await ways())[0], [everything, 'failover'], 'another account’s mail is refused, too')
})

t.test('where the operator forbids it, a refused address is a refusal', async (t) => {
  const rcpt = '550 5.7.1 Service unavailable, blocked using zen.spamhaus.org'
  const { rig, relay, order, send } = await open(t, { receiver: { rcpt } })
  await order(everything, 'forbid')
  const id = await send('one')
  const { provider } = await rig.until(id, ({ recipients }) => recipients[0]?.reply != null)
  t.equal(provider, 'primary')
  t.equal(relay.sessions.length, 0)
})

t.test('no smart host works: the mail waits, and says for what', async (t) => {
  const { rig, order, deferred, send, pass, relay, key } = await open(t, {
    smartHost: { banner: '421 4.3.2 closed' },
  })
  await order(everything, 'force')
  for (let i = 0; i < 2; i++) {
    const { recipients, provider } = await deferred('one')
    t.match(recipients, [{ reply: /^No session with the smart host .* \(banner\): 421 4\.3\.2/ }])
    t.equal(provider, 'primary')
  }
  const id = await send('two')
  await rig.eventually(() => rig.gateOf(key('two.test'))?.gate === 'failover')
  t.match(rig.gateOf(key('two.test')), {
    says: /^Mail to two\.test goes by the smart hosts: these take no mail for now; .* in the log/,
    until: Number,
  })
  relay.change({ banner: '220 here again' })
  await pass(3 * minute)
  await rig.until(id, (email) => email.provider === 'failover')
})

t.test(
  'what a smart host says of itself ends no mail, what it says of the recipient does',
  async (t) => {
    const rcpt = ['554 5.7.1 Relay access denied', '550 5.1.1 no such user']
    const { rig, order, deferred, send } = await open(t, { smartHost: { rcpt } })
    await order(everything, 'force')
    t.match(await deferred('one'), { status: 'sent', provider: 'primary' })
    t.match(await rig.becomes(await send('one'), 'bounced'), { provider: 'failover' })
  },
)

t.test('the operator sends all, or a domain, the other way, and back', async (t) => {
  const { order, leave, relayed, delivered, rig } = await open(t, { receiver: {} })
  await order('two.test', 'force')
  await relayed('two')
  await delivered('one')
  await order(everything, 'force')
  await relayed('one')
  t.equal(rig.mx.messages.length, 1)
  rig.resolver.set('three.test', { fail: 'SERVFAIL' })
  await relayed('three')
  await order(everything, 'forbid')
  t.equal((await delivered('two')).provider, 'primary')
  await leave()
  await delivered('one')
})

t.test('a null MX is no business of the smart host', async (t) => {
  const { rig, order, send, relay } = await open(t, { receiver: {} })
  rig.resolver.set('one.test', { mx: [{ preference: 0, exchange: '' }] })
  await order(everything, 'force')
  t.match(await rig.becomes(await send('one'), 'bounced'), { provider: 'primary' })
  t.equal(relay.sessions.length, 0)
})

t.test('the way outlives a restart', async (t) => {
  const { rig, pass, deferred, relayed } = await open(t)
  for (const name of ['one', 'two', 'three']) await deferred(name)
  await pass(14_000)
  await relayed('four')
  await rig.stop()
  await rig.start()
  await relayed('four')
})

t.test('a whole appliance obeys within seconds, and tells which way a mail went', async (t) => {
  const relay = await fakeMx(t)
  const direct = await fakeMx(t)
  const host = { host: '127.0.0.1', port: relay.port, tls: 'off' }
  const posthorn = await startPosthorn(t, {
    settings: { outbound: { failover: { smart_hosts: [host] } } },
    dns: { 'one.test': { a: ['127.0.0.1'] } },
    env: {
      POSTHORN_OUTBOUND_ROUTE: 'direct',
      POSTHORN_OUTBOUND_PORT: String(direct.port),
      POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
      POSTHORN_OUTBOUND_THREADS: '2',
    },
  })
  const send = async () => {
    const mail = { from: 'a@sender.test', to: 'ada@one.test', subject: 'Hi', html: '<p>Hi</p>' }
    const { id } = (await posthorn.send(mail)).json
    return await posthorn.until(id, ({ recipients }) => recipients[0]?.reply != null)
  }
  t.match(await send(), { status: 'delivered', provider: 'primary' })
  await posthorn.store.write((tx) => orderScope(tx, everything, 'force', 1))
  const orderedAt = Date.now()
  let last = await send()
  while (last.provider === 'primary' && Date.now() - orderedAt < 10_000) last = await send()
  t.match(last, { status: 'sent', provider: 'failover', recipients: [{ status: 'sent' }] })
  t.equal(relay.messages.length, 1)
})
