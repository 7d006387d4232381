import t, { type Test } from 'tap'
import type { StaticRecords } from '../../src/dns/index.js'
import { type Meter, silentMeter } from '../../src/metrics/index.js'
import { watchSockets } from '../support/open-sockets.js'
import { type OutboundRig, outboundRig, type RigOptions, shapedTo } from '../support/outbound.js'
import { testCertificates } from '../support/tls.js'

const certificates = await testCertificates(t, 'a.mx.test')

/** A domain for each host, such as `a.test`. */
const domainsOf = (hosts: readonly string[]): StaticRecords =>
  Object.fromEntries(
    hosts.flatMap((host) => [
      [`${host.slice(0, 1)}.test`, { mx: [{ preference: 10, exchange: host }] }],
      [host, { a: ['127.0.0.1'] }],
    ]),
  )

/** What the gauge of connections says, by site. */
function watchGauge() {
  const values = new Map<string, number>()
  let most = 0
  const meter: Meter = {
    ...silentMeter,
    gauge(name, { site = '' }: Readonly<Record<string, string>>, value) {
      if (name !== 'posthorn_connections') return
      values.set(site, value)
      most = Math.max(most, sum())
    },
  }
  const sum = () => [...values.values()].reduce((all, one) => all + one, 0)
  return { meter, sum, most: () => most }
}

async function open(t: Test, options: RigOptions) {
  const gauge = watchGauge()
  const rig = await outboundRig(t, { meter: gauge.meter, ...options })
  const sockets = watchSockets(t)
  return { rig, gauge, sockets }
}

const send = (rig: OutboundRig, count: number, domain: string) =>
  Promise.all(Array.from({ length: count }, (_, i) => rig.send({ to: `r${i}@${domain}` })))

t.test('idle sessions with other hosts of a site make room for those being opened', async (t) => {
  const letters = [...'abcdefgh']
  const { rig, sockets, gauge } = await open(t, {
    dns: domainsOf(letters.map((letter) => `${letter}.mx.test`)),
    shaping: shapedTo({ connections: 5 }),
    script: {
      banner: { reply: '220 fake.test', delayMs: 20 },
      dot: { reply: '250 ok', delayMs: 20 },
    },
  })
  await send(rig, 4, 'a.test')
  await rig.mx.waitForMessages(4)
  await rig.eventually(async () => sockets.open() === 4)
  for (const letter of letters.slice(1)) await send(rig, 6, `${letter}.test`)
  await rig.mx.waitForMessages(4 + 7 * 6)
  t.equal(sockets.most(), 5)
  t.equal(gauge.most(), 5)
  t.equal(gauge.sum(), sockets.open())
})

t.test('a session counts until its socket is closed, however late QUIT is answered', async (t) => {
  for (const tls of [undefined, certificates.valid]) {
    const { rig, sockets, gauge } = await open(t, {
      shaping: shapedTo({ connections: 3, messages: 1 }),
      script: { quit: 'hang', lingers: true, ...(tls && { tls }) },
    })
    await send(rig, 30, 'one.test')
    await rig.mx.waitForMessages(30)
    t.equal(rig.mx.sessions.filter((session) => session.tls === (tls !== undefined)).length, 30)
    t.equal(sockets.most(), 3)
    t.equal(gauge.most(), 3)
    await rig.mx.waitUntil(() =>
      rig.mx.sessions.every(({ commands }) => commands.at(-1) === 'QUIT'),
    )
    t.equal(sockets.open(), 3)
    t.equal(gauge.sum(), 3, 'the last ones still wait for the answer')
    await rig.stop()
    t.equal(sockets.open(), 0)
    await rig.eventually(() => gauge.sum() === 0)
  }
})

t.test('max_connections holds over all sites, idle and leaving sessions included', async (t) => {
  const letters = [...'abcdefgh']
  const { rig, sockets, gauge } = await open(t, {
    dns: domainsOf(letters.map((letter) => `${letter}.${letter}site.test`)),
    config: { maxConnections: 3 },
    shaping: '[default]\nmessages_per_connection = 2',
    script: { quit: 'hang', lingers: true, banner: { reply: '220 fake.test', delayMs: 5 } },
  })
  for (const letter of letters) await send(rig, 5, `${letter}.test`)
  await rig.mx.waitForMessages(8 * 5)
  t.equal(sockets.most(), 3)
  t.equal(gauge.most(), 3)
})

t.test('idle sessions keep to what a small site has earned', async (t) => {
  const hosts = ['1', '2', '3', '4'].map((digit) => `${digit}.mx.small.test`)
  const { rig, sockets } = await open(t, { dns: domainsOf(hosts), shaping: '' })
  for (const host of hosts) {
    const [id = ''] = await send(rig, 1, `${host.slice(0, 1)}.test`)
    await rig.becomes(id, 'delivered')
  }
  t.equal(rig.mx.sessions.length, 4)
  t.equal(sockets.most(), 2)
})

t.test('a session that failed to open leaves its room', async (t) => {
  const { rig, sockets, gauge } = await open(t, {
    shaping: shapedTo({ connections: 2 }),
    script: { banner: ['554 no', '554 no', '220 fake.test'] },
  })
  for (let i = 0; i < 2; i++) {
    const [id = ''] = await send(rig, 1, 'one.test')
    await rig.until(id, ({ recipients }) => recipients[0]?.attempts === 1)
  }
  await rig.eventually(() => gauge.sum() === 0 && sockets.open() === 0)
  t.equal(rig.mx.sessions.length, 2)
})
