import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { type Config, loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { makeReturnPaths } from '../../src/deliveries/index.js'
import type { StaticRecords } from '../../src/dns/index.js'
import { examine, type Finding, tellFindings } from '../../src/doctor/index.js'
import { addDomain, domainRecords, verifyDomain } from '../../src/domains/index.js'
import { fakeMx } from './fake-mx.js'
import { type FakeResolver, fakeResolver } from './resolver.js'
import { openTestStore } from './store.js'
import { timeServer } from './time-server.js'

const listedTest = '2.0.0.127.list.test'
export const goodWorld: StaticRecords = {
  'mail.posthorn.test': {
    a: ['127.0.0.1'],
    mx: [{ preference: 10, exchange: 'mail.posthorn.test' }],
    txt: ['v=spf1 ip4:127.0.0.1 -all'],
  },
  '127.0.0.1': { ptr: ['mail.posthorn.test'] },
  'probe.test': { mx: [{ preference: 10, exchange: 'mx.probe.test' }] },
  'mx.probe.test': { a: ['127.0.0.1'] },
  [listedTest]: { a: ['127.0.0.2'] },
}

/** A healthy appliance with the verified domain `shop.test`, in a fake world in which tests break things. */
export async function doctorRig(
  t: Test,
  options: {
    clock?: Clock
    ca?: string
    env?: Record<string, string>
    dnsStatic?: StaticRecords
  } = {},
) {
  const clock = options.clock ?? systemClock
  const store = await openTestStore(t, { clock })
  const time = await timeServer(t)
  const resolver = fakeResolver(goodWorld)
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const { deliveryOf } = makeReturnPaths(key)
  // Every server of this world is at one address, which answers probes and accepts bounces as we do.
  const mx = await fakeMx(t, {
    rcpt: (address) =>
      deliveryOf(address) !== undefined || address.startsWith('feedback@')
        ? '250 Good'
        : '550 5.1.1 Unknown',
  })
  const settled = loadConfig({
    env: {
      POSTHORN_OUTBOUND_HELO_NAME: 'mail.posthorn.test',
      POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '127.0.0.1',
      POSTHORN_OUTBOUND_PORT: String(mx.port),
      POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
      POSTHORN_INBOUND_HOST: '127.0.0.1',
      POSTHORN_INBOUND_PORT: String(mx.port),
      POSTHORN_DOCTOR_SMTP_PROBES: 'probe.test',
      POSTHORN_DOCTOR_BLOCKLISTS: 'list.test',
      POSTHORN_DOCTOR_TIME_SERVERS: `127.0.0.1:${time.port}`,
      POSTHORN_DOCTOR_TIMEOUT: '300ms',
      ...options.env,
    },
  })
  const { dnsStatic = {} } = options
  const config: Config = {
    ...settled,
    dns: { ...settled.dns, static: dnsStatic as Config['dns']['static'] },
  }
  const account = await createAccount({ store, clock }, 'Test')
  const domain = await addDomain({ store, clock, key }, account.id, 'shop.test')
  const records = domainRecords(domain, config.outbound)
  for (const { host, type, value } of records) {
    if (type !== 'CNAME') publish(resolver, host, type, value)
  }
  const settings = config.outbound
  await verifyDomain({ store, clock, resolver, settings }, account.id, 'shop.test')
  const deps = { config, dataDir: '/tmp', read: store.read, clock, resolver, key, random: () => 0 }
  return {
    store,
    clock,
    resolver,
    time,
    mx,
    records,
    recordOf: (purpose: string) => records.find((record) => record.purpose === purpose),
    publish: (host: string, type: 'MX' | 'TXT', value: string) =>
      publish(resolver, host, type, value),
    /** From now on nobody answers for any name. */
    silence() {
      const names = [...Object.keys(goodWorld), ...records.map(({ host }) => host), '*']
      for (const name of names) resolver.set(name, { fail: 'SERVFAIL' })
    },
    /** The findings of one check, about one subject if named. */
    async look(check: string, subject?: string): Promise<Finding[]> {
      const found = await examine({ ...deps, ...(options.ca ? { ca: options.ca } : {}) })
      return found.filter(
        (one) => one.check === check && (subject === undefined || one.subject === subject),
      )
    },
    /** The job `doctor`. */
    tell: () => tellFindings({ ...deps, store }),
    examine: (outbound: Partial<Config['outbound']> = {}) =>
      examine({ ...deps, config: { ...config, outbound: { ...config.outbound, ...outbound } } }),
  }
}

const published = new WeakMap<FakeResolver, Map<string, { mx: string[]; txt: string[] }>>()

/** Adds a record to those of the host. */
function publish(resolver: FakeResolver, host: string, type: 'MX' | 'TXT', value: string): void {
  const hosts = published.get(resolver) ?? new Map()
  published.set(resolver, hosts)
  const at = hosts.get(host) ?? { mx: [], txt: [] }
  hosts.set(host, at)
  if (type === 'TXT') at.txt.push(value)
  else at.mx.push(value.split(' ')[1])
  const mx = at.mx.map((exchange: string) => ({ preference: 10, exchange }))
  resolver.set(host, {
    ...(mx.length > 0 ? { mx } : {}),
    ...(at.txt.length ? { txt: at.txt } : {}),
  })
}
