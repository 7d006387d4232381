import t from 'tap'
import {
  type MxRoute,
  type RouteOptions,
  routeToMx,
  type StaticRecords,
} from '../../src/dns/index.js'
import { fakeResolver } from '../support/resolver.js'

type Unbounded = MxRoute extends infer R ? (R extends MxRoute ? Omit<R, 'mx'> : never) : never

interface Case {
  name: string
  records: StaticRecords
  domain?: string
  options?: Partial<RouteOptions>
  /** But for `mx`. */
  want: Unbounded
}

/** Always the first of what is left: a shuffle that keeps the order. */
const inOrder = () => 0
const mx = (exchange: string, preference = 10) => ({ exchange, preference })
const host = (exchange: string, addresses: string[], preference = 10) => ({
  exchange,
  preference,
  addresses,
})

const cases: Case[] = [
  {
    name: 'hosts go by preference, whatever the order of the answer',
    records: {
      'a.test': { mx: [mx('back.a.test', 20), mx('front.a.test', 5)] },
      'front.a.test': { a: ['8.8.8.8'] },
      'back.a.test': { a: ['8.8.4.4'] },
    },
    want: {
      kind: 'hosts',
      implicit: false,
      hosts: [host('front.a.test', ['8.8.8.8'], 5), host('back.a.test', ['8.8.4.4'], 20)],
    },
  },
  {
    name: 'names are compared without case and trailing dot, U-labels as A-labels',
    domain: 'BÜCHER.test.',
    records: {
      'xn--bcher-kva.test': { mx: [mx('MX.a.test.')] },
      'mx.a.test': { a: ['8.8.8.8'] },
    },
    want: { kind: 'hosts', implicit: false, hosts: [host('mx.a.test', ['8.8.8.8'])] },
  },
  {
    name: 'without any MX the domain itself takes its mail',
    records: { 'a.test': { a: ['8.8.8.8'], aaaa: ['2606:4700::1'] } },
    want: {
      kind: 'hosts',
      implicit: true,
      hosts: [host('a.test', ['8.8.8.8', '2606:4700::1'], 0)],
    },
  },
  {
    name: 'an MX without address does not fall back to the domain itself',
    records: { 'a.test': { mx: [mx('gone.a.test')], a: ['8.8.8.8'] } },
    want: { kind: 'no-addresses', cause: 'no address for gone.a.test' },
  },
  {
    name: 'a domain with neither MX nor address has no route',
    records: { 'a.test': { txt: ['v=spf1 -all'] } },
    want: { kind: 'no-addresses', cause: 'no address for a.test' },
  },
  {
    name: 'a null MX says that the domain takes no mail, even if it has an address',
    records: { 'a.test': { mx: [mx('.', 0)], a: ['8.8.8.8'] } },
    want: { kind: 'null-mx' },
  },
  {
    name: 'a null MX beside a real one is ignored',
    records: { 'a.test': { mx: [mx('', 0), mx('mx.a.test')] }, 'mx.a.test': { a: ['8.8.8.8'] } },
    want: { kind: 'hosts', implicit: false, hosts: [host('mx.a.test', ['8.8.8.8'])] },
  },
  { name: 'a domain that does not exist', records: {}, want: { kind: 'nxdomain' } },
  { name: 'an empty domain does not exist', domain: '.', records: {}, want: { kind: 'nxdomain' } },
  {
    name: 'a failed MX lookup is temporary and never falls back to the address',
    records: { 'a.test': { fail: 'SERVFAIL', a: ['8.8.8.8'] } },
    want: { kind: 'failed', cause: 'MX of a.test: SERVFAIL' },
  },
  {
    name: 'a failed address lookup is temporary when no other host is left',
    records: {
      'a.test': { mx: [mx('in.a.test', 1), mx('mx.a.test', 2)] },
      'in.a.test': { a: ['10.0.0.1'] },
      'mx.a.test': { fail: 'SERVFAIL' },
    },
    want: { kind: 'failed', cause: 'address of mx.a.test: SERVFAIL' },
  },
  {
    name: 'a failed address lookup passes over to the next host',
    records: {
      'a.test': { mx: [mx('one.a.test', 1), mx('two.a.test', 2)] },
      'one.a.test': { fail: 'SERVFAIL' },
      'two.a.test': { a: ['8.8.8.8'] },
    },
    want: { kind: 'hosts', implicit: false, hosts: [host('two.a.test', ['8.8.8.8'], 2)] },
  },
  {
    name: 'a CNAME in place of the exchange is followed',
    records: {
      'a.test': { mx: [mx('alias.a.test')] },
      'alias.a.test': { cname: 'Real.a.test.' },
      'real.a.test': { a: ['8.8.8.8'] },
    },
    want: { kind: 'hosts', implicit: false, hosts: [host('alias.a.test', ['8.8.8.8'])] },
  },
  {
    name: 'CNAMEs in a circle are a failure, not a hang',
    records: { 'a.test': { cname: 'b.test' }, 'b.test': { cname: 'a.test' } },
    want: { kind: 'failed', cause: 'MX of a.test: CNAMEs of a.test go in a circle' },
  },
  {
    name: 'private and loopback addresses are refused',
    records: {
      'a.test': { mx: [mx('mx.a.test')] },
      'mx.a.test': { a: ['127.0.0.1', '10.0.0.1'], aaaa: ['::ffff:192.168.0.1', 'fd00::1'] },
    },
    want: { kind: 'refused', cause: 'mx.a.test is at 127.0.0.1' },
  },
  {
    name: 'a private address beside a public one is left out',
    records: {
      'a.test': { mx: [mx('mx.a.test')] },
      'mx.a.test': { a: ['10.0.0.1', '8.8.8.8'] },
    },
    want: { kind: 'hosts', implicit: false, hosts: [host('mx.a.test', ['8.8.8.8'])] },
  },
  {
    name: 'a private address is mailed to where its network is allowed',
    options: { allowPrivate: ['10.0.0.0/8'] },
    records: { 'a.test': { a: ['10.0.0.1', '192.168.0.1'] } },
    want: { kind: 'hosts', implicit: true, hosts: [host('a.test', ['10.0.0.1'], 0)] },
  },
  {
    name: 'everything is mailed to where all private addresses are allowed',
    options: { allowPrivate: true, ownAddresses: ['127.0.0.1'] },
    records: { 'a.test': { a: ['127.0.0.1'], aaaa: ['::1'] } },
    want: { kind: 'hosts', implicit: true, hosts: [host('a.test', ['127.0.0.1', '::1'], 0)] },
  },
  {
    name: 'a route to ourselves is a loop',
    options: { ownAddresses: ['8.8.8.8', '2606:4700:0::1'] },
    records: { 'a.test': { a: ['8.8.8.8'], aaaa: ['::ffff:8.8.8.8', '2606:4700::1'] } },
    want: { kind: 'refused', cause: 'a.test is at 8.8.8.8' },
  },
  {
    name: 'a route to ourselves that is allowed by name stays',
    options: { ownAddresses: ['8.8.8.8'], allowPrivate: ['8.8.8.8/32'] },
    records: { 'a.test': { a: ['8.8.8.8'] } },
    want: { kind: 'hosts', implicit: true, hosts: [host('a.test', ['8.8.8.8'], 0)] },
  },
  {
    name: 'an address in place of an exchange is refused, even when private ones are allowed',
    options: { allowPrivate: true },
    records: {
      'a.test': { mx: [mx('127.0.0.1'), mx('[::1]'), mx('0x7f.1')] },
      '*': { a: ['8.8.8.8'] },
    },
    want: { kind: 'refused', cause: 'MX of a.test is an address, not a host name' },
  },
  {
    name: 'an address in place of a domain is refused',
    domain: '[8.8.8.8]',
    records: {},
    want: { kind: 'refused', cause: '[8.8.8.8] is an address, not a domain' },
  },
  {
    name: 'a host has five addresses at most, four beside others, families in turn',
    records: {
      'a.test': { mx: [mx('one.a.test', 1), mx('two.a.test', 2), mx('three.a.test', 3)] },
      'one.a.test': { a: ['8.8.8.1', '8.8.8.2'], aaaa: ['2606:4700::1'] },
      'two.a.test': { a: ['8.8.8.1', '8.8.8.3', '8.8.8.4', '8.8.8.5'] },
      'three.a.test': { a: ['8.8.8.6'] },
    },
    want: {
      kind: 'hosts',
      implicit: false,
      hosts: [
        host('one.a.test', ['8.8.8.1', '2606:4700::1', '8.8.8.2'], 1),
        host('two.a.test', ['8.8.8.1', '8.8.8.3', '8.8.8.4', '8.8.8.5'], 2),
        host('three.a.test', ['8.8.8.6'], 3),
      ],
    },
  },
  {
    name: 'a name at the address of another one stays: a policy may allow it alone',
    records: {
      'a.test': { mx: [mx('one.a.test', 1), mx('two.a.test', 2)] },
      '*.a.test': { a: ['8.8.8.1'] },
    },
    want: {
      kind: 'hosts',
      implicit: false,
      hosts: [host('one.a.test', ['8.8.8.1'], 1), host('two.a.test', ['8.8.8.1'], 2)],
    },
  },
  {
    name: 'with a bound over all hosts a shared address counts once',
    options: { maxAddresses: 1 },
    records: {
      'a.test': { mx: [mx('one.a.test', 1), mx('two.a.test', 2)] },
      'one.a.test': { a: ['8.8.8.1', '8.8.8.2'] },
      'two.a.test': { a: ['8.8.8.1', '8.8.8.3'] },
    },
    want: {
      kind: 'hosts',
      implicit: false,
      hosts: [host('one.a.test', ['8.8.8.1'], 1), host('two.a.test', ['8.8.8.1'], 2)],
    },
  },
  {
    name: 'with IPv4 alone no IPv6 address is used',
    options: { ipFamily: 'ipv4' },
    records: { 'a.test': { a: ['8.8.8.8'], aaaa: ['2606:4700::1'] } },
    want: { kind: 'hosts', implicit: true, hosts: [host('a.test', ['8.8.8.8'], 0)] },
  },
  {
    name: 'with IPv6 alone a host without one has no address',
    options: { ipFamily: 'ipv6' },
    records: { 'a.test': { a: ['8.8.8.8'] } },
    want: { kind: 'no-addresses', cause: 'no address for a.test' },
  },
  {
    name: 'a host named twice is asked once, with its better preference',
    records: {
      'a.test': { mx: [mx('mx.a.test', 20), mx('mx.a.test', 10)] },
      'mx.a.test': { a: ['8.8.8.8'] },
    },
    want: { kind: 'hosts', implicit: false, hosts: [host('mx.a.test', ['8.8.8.8'], 10)] },
  },
]

t.test('a route to the MX:', async (t) => {
  for (const { name, records, domain = 'a.test', options, want } of cases) {
    const given = { random: inOrder, ...options }
    const { mx: _, ...route } = {
      mx: [],
      ...(await routeToMx(fakeResolver(records), domain, given)),
    }
    t.same(route, want, name)
  }
})

t.test('hosts of equal preference share the first place', async (t) => {
  const names = ['m0.a.test', 'm1.a.test', 'm2.a.test']
  const resolver = fakeResolver({
    'a.test': { mx: names.map((name) => mx(name)) },
    '*.a.test': { a: ['8.8.8.8'] },
  })
  const firsts = new Map<string, number>()
  for (let i = 0; i < 300; i++) {
    // 1/300 steps through [0, 1): every host is drawn first equally often.
    const route = await routeToMx(resolver, 'a.test', { random: () => i / 300 })
    const first = route.kind === 'hosts' ? route.hosts[0]?.exchange : undefined
    firsts.set(String(first), (firsts.get(String(first)) ?? 0) + 1)
  }
  t.same(new Map([...firsts].sort()), new Map(names.map((name) => [name, 100])))
})

t.test('a hostile number of MX records costs a bounded number of lookups', async (t) => {
  const many = Array.from({ length: 100 }, (_, i) => mx(`m${i}.a.test`, i))
  const resolver = fakeResolver({ 'a.test': { mx: many } })
  const route = await routeToMx(resolver, 'a.test', { random: inOrder })
  t.equal(route.kind, 'no-addresses')
  t.equal(resolver.questions.length, 1 + 10 * 2)
})

t.test('all MXs are told, also those that are not tried', async (t) => {
  const many = Array.from({ length: 12 }, (_, i) => mx(`m${i}.a.test`, i))
  const resolver = fakeResolver({ 'a.test': { mx: many }, 'm0.a.test': { a: ['8.8.8.8'] } })
  const route = await routeToMx(resolver, 'a.test', { random: inOrder })
  t.match(route, { kind: 'hosts', hosts: [{ exchange: 'm0.a.test' }] })
  t.same(
    route.kind === 'hosts' && route.mx.map(({ exchange }) => exchange).sort(),
    many.map(({ exchange }) => exchange).sort(),
  )
})

t.test(
  'hosts are looked up though others have addresses enough: a policy may leave one alone',
  async (t) => {
    const resolver = fakeResolver({
      'a.test': { mx: Array.from({ length: 6 }, (_, i) => mx(`m${i}.a.test`, i)) },
      ...Object.fromEntries(
        Array.from({ length: 6 }, (_, i) => [`m${i}.a.test`, { a: [`8.8.${i}.1`, `8.8.${i}.2`] }]),
      ),
    })
    const route = await routeToMx(resolver, 'a.test', { random: inOrder })
    t.equal(route.kind === 'hosts' && route.hosts.length, 6)
    t.equal(resolver.count('m5.a.test'), 2)
  },
)

t.test('no more hosts are looked up than a bound over all of them needs', async (t) => {
  const resolver = fakeResolver({
    'a.test': { mx: Array.from({ length: 6 }, (_, i) => mx(`m${i}.a.test`, i)) },
    '*.a.test': { a: ['8.8.8.1', '8.8.8.2'] },
  })
  await routeToMx(resolver, 'a.test', { random: inOrder, maxAddresses: 2 })
  t.equal(resolver.count('m2.a.test'), 2)
  t.equal(resolver.count('m3.a.test'), 0)
})
