import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import type { Resolver } from '../../src/dns/index.js'
import {
  type DnsRecord,
  deleteDomain,
  domainRecords,
  recordSettings,
  setTrackingHost,
  signingKeys,
  verifyDomain,
  zoneLine,
} from '../../src/domains/index.js'
import { fakeResolver } from '../support/resolver.js'
import { openDomains, settings } from './open.js'

type Purpose = DnsRecord['purpose']

/** `shop.test` in a DNS that can be changed; `check` verifies it and tells the states. */
async function open(t: Test, options: { trust?: boolean } = {}) {
  const { deps, add, accountId, read, clock } = await openDomains(t)
  const domain = await add('shop.test', options.trust)
  const resolver = fakeResolver()
  const wanted = domainRecords(domain, settings)
  const of = (purpose: Purpose) => {
    const record = wanted.find((candidate) => candidate.purpose === purpose)
    if (record === undefined) throw new Error(purpose)
    return record
  }
  const [rsa, ed25519] = [of('dkim-rsa'), of('dkim-ed25519')] as const
  const [spf, dmarc] = [of('return-path-spf'), of('dmarc')] as const
  const mx = [{ preference: 5, exchange: 'mail.appliance.test' }]
  const publish = () => {
    resolver.set(rsa.host, { txt: [rsa.value] })
    resolver.set(ed25519.host, { txt: [ed25519.value] })
    resolver.set(spf.host, { txt: [spf.value], mx })
    resolver.set(dmarc.host, { txt: [dmarc.value] })
  }
  const verify = (options = {}) =>
    verifyDomain({ ...deps, resolver }, accountId, 'shop.test', options)
  return {
    deps,
    accountId,
    clock,
    resolver,
    publish,
    verify,
    mx,
    rsa,
    ed25519,
    spf,
    dmarc,
    async check() {
      const { domain, records } = await verify()
      const [first, second] = domain.keys
      return {
        states: Object.fromEntries(records.map(({ purpose, state }) => [purpose, state])),
        flags: [domain.status === 'verified', first?.verified, second?.verified, domain.returnPath],
        advice: (purpose: Purpose) => records.find((r) => r.purpose === purpose)?.advice,
        found: (purpose: Purpose) => records.find((r) => r.purpose === purpose)?.found,
      }
    },
    signs: async () => {
      const signs = await signingKeys(read, deps.key, domain.id)
      const { keys = [], returnPathHost } = signs ?? {}
      return [...keys.map(({ algorithm }) => algorithm), returnPathHost]
    },
  }
}

t.test('each record counts for itself, and absence takes back what presence gave', async (t) => {
  const { publish, resolver, check, signs, rsa, ed25519, spf, mx } = await open(t)
  t.same((await check()).flags, [false, false, false, false])
  t.same(await signs(), [undefined])

  publish()
  t.same((await check()).flags, [true, true, true, true])
  t.same(await signs(), ['rsa-sha256', 'ed25519-sha256', 'bounce.shop.test'])

  resolver.set(ed25519.host, undefined)
  t.same((await check()).flags, [true, true, false, true], 'Ed25519 alone')
  t.same(await signs(), ['rsa-sha256', 'bounce.shop.test'])
  resolver.set(spf.host, { mx })
  t.same((await check()).flags, [true, true, false, false], 'a return path needs its SPF')
  resolver.set(spf.host, { txt: [spf.value] })
  t.same((await check()).flags, [true, true, false, false], '… and its MX')
  resolver.set(rsa.host, { txt: [] })
  t.same((await check()).flags, [false, false, false, false])
  t.same(await signs(), [undefined])
})

t.test('a DNS that does not answer takes nothing back and gives nothing', async (t) => {
  const { publish, resolver, check, rsa, ed25519, spf, dmarc } = await open(t)
  const hosts = [rsa.host, ed25519.host, spf.host, dmarc.host]
  const fail = () => {
    for (const host of hosts) resolver.set(host, { fail: 'SERVFAIL' })
  }
  fail()
  const before = await check()
  t.same(before.flags, [false, false, false, false])
  t.same(new Set(Object.values(before.states)), new Set(['unknown']))
  t.equal(before.advice('dkim-rsa'), 'The DNS did not answer (SERVFAIL). Try again later')
  publish()
  await check()
  fail()
  t.same((await check()).flags, [true, true, true, true])
})

t.test('when it was verified stays, when it was last looked at moves', async (t) => {
  const { publish, verify, clock } = await open(t)
  publish()
  const first = clock.now()
  await verify()
  await clock.advance(1_000)
  const { domain } = await verify()
  t.match(domain, { verifiedAt: first, checkedAt: first + 1_000 })
})

t.test('the operator’s word stands whatever the DNS says', async (t) => {
  const { check, verify, resolver, rsa, signs } = await open(t)
  t.match((await verify({ trust: true })).domain, { status: 'verified', trusted: true })
  t.same(await signs(), ['rsa-sha256', 'ed25519-sha256', 'bounce.shop.test'])
  resolver.set(rsa.host, { txt: ['v=DKIM1; p='] })
  const { flags, states } = await check()
  t.same(flags, [true, true, true, true])
  t.equal(states['dkim-rsa'], 'different', 'but what was found is told')
})

t.test('a domain that is deleted during the look-ups does not come back', async (t) => {
  const { deps, accountId, resolver, publish, rsa } = await open(t)
  publish()
  const meddling = {
    ...resolver,
    async txt(name: string) {
      if (name === rsa.host) await deleteDomain(deps, accountId, 'shop.test')
      return resolver.txt(name)
    },
  }
  const verified = verifyDomain({ ...deps, resolver: meddling }, accountId, 'shop.test')
  await t.rejects(verified, { message: /The account has no domain shop\.test/ })
})

t.test('a DKIM record counts only with this key, for mail', async (t) => {
  const { resolver, check, rsa, ed25519 } = await open(t)
  const p = rsa.value.slice(rsa.value.indexOf('p='))
  for (const [value, state] of [
    [rsa.value, 'ok'],
    [p, 'ok'],
    [` v = DKIM1 ;k=rsa; ${p.replace('p=', 'p = ')}; n=ours;`, 'ok'],
    [`v=DKIM1; k=rsa; ${p}; t=y`, 'ok'],
    [`v=DKIM1; k=rsa; ${p.slice(0, 60)} ${p.slice(60)}`, 'ok'],
    [ed25519.value, 'different'],
    [`${p.slice(0, -4)}AAAA`, 'different'],
    ['v=DKIM1; p=', 'different'],
    [`v=DKIM2; ${p}`, 'different'],
    [`v=DKIM1; s=tlsrpt; ${p}`, 'different'],
    [`"${rsa.value}"`, 'different'],
  ] as const) {
    resolver.set(rsa.host, { txt: [value] })
    t.equal((await check()).states['dkim-rsa'], state, value)
  }
  // RFC 6376 §3.6.2.2: with several records a verifier may take either.
  resolver.set(rsa.host, { txt: ['v=DKIM1; p=', rsa.value] })
  t.equal((await check()).states['dkim-rsa'], 'ok')
  resolver.set(rsa.host, { txt: ['x'.repeat(10_000)] })
  t.ok(JSON.stringify((await check()).found('dkim-rsa')).length < 600, 'long answers are cut')
  resolver.set(rsa.host, { cname: ed25519.host })
  resolver.set(ed25519.host, { txt: [rsa.value] })
  t.equal((await check()).states['dkim-rsa'], 'ok', 'by a CNAME too')
})

t.test('SPF counts when it names every address before its all', async (t) => {
  const { resolver, check, spf, mx } = await open(t)
  for (const [txt, state] of [
    [[spf.value], 'ok'],
    [['V=SPF1  IP6:2001:DB8::7 a:other.test ip4:192.0.2.7 ~all'], 'ok'],
    [['v=spf1 +ip4:192.0.2.7 ?ip4:192.0.2.9 ip6:2001:db8::7'], 'ok'],
    [['unrelated text', spf.value], 'ok'],
    [['v=spf1 ip4:192.0.2.7 -all'], 'different'],
    [['v=spf1 -all ip4:192.0.2.7 ip6:2001:db8::7'], 'different'],
    [['v=spf1 -ip4:192.0.2.7 ip6:2001:db8::7 -all'], 'different'],
    [['v=spf1'], 'different'],
    [['v=spf10 ip4:192.0.2.7 ip6:2001:db8::7'], 'missing'],
    [['unrelated text'], 'missing'],
    [[], 'missing'],
    [[spf.value, 'v=spf1 -all'], 'different'],
  ] as const) {
    resolver.set(spf.host, { txt, mx })
    const { states, flags } = await check()
    t.equal(states['return-path-spf'], state, txt.join(' | '))
    t.equal(flags[3], state === 'ok')
  }
  resolver.set(spf.host, { txt: [spf.value, spf.value], mx })
  t.match((await check()).advice('return-path-spf'), /Several such records .*: keep one/)
})

t.test('the MX has to name this host, beside whichever others', async (t) => {
  const { resolver, check, spf, mx } = await open(t)
  for (const [hosts, state] of [
    [['mail.appliance.test'], 'ok'],
    [['other.test', 'mail.appliance.test'], 'ok'],
    [['other.test'], 'different'],
    [['xmail.appliance.test'], 'different'],
    [[''], 'different'],
    [[], 'missing'],
  ] as const) {
    const exchanges = hosts.map((exchange) => ({ preference: 10, exchange }))
    resolver.set(spf.host, { txt: [spf.value], mx: exchanges })
    const { states, flags } = await check()
    t.equal(states['return-path-mx'], state, hosts.join())
    t.equal(flags[3], state === 'ok')
  }
  resolver.set(spf.host, { txt: [spf.value], mx })
  t.same((await check()).found('return-path-mx'), ['5 mail.appliance.test'])
})

t.test('any DMARC policy is good, no answer about it holds anything up', async (t) => {
  const { publish, resolver, check, dmarc } = await open(t)
  publish()
  for (const [txt, state] of [
    [['v=DMARC1; p=reject; rua=mailto:dmarc@shop.test'], 'ok'],
    [['v=DMARC1;p=quarantine'], 'ok'],
    [['v=DMARC1 ; sp=none ; p = none ;'], 'ok'],
    [['v=DMARC1; sp=reject'], 'different'],
    [['v=DMARC1; p=maybe'], 'different'],
    [['v=dmarc1; p=none'], 'missing'],
    [['p=none'], 'missing'],
    [[dmarc.value, dmarc.value], 'different'],
  ] as const) {
    resolver.set(dmarc.host, { txt })
    const { states, flags } = await check()
    t.equal(states.dmarc, state, txt.join(' | '))
    t.same(flags, [true, true, true, true])
  }
})

t.test('a host for links is used once the DNS leads it to the appliance', async (t) => {
  const { deps, accountId, resolver, verify, publish } = await open(t)
  publish()
  const host = 'links.shop.test'
  const at = 'mail.appliance.test'
  const ready = async () => {
    const { domain, records } = await verify()
    const record = records.find(({ purpose }) => purpose === 'tracking')
    return [record?.state, domain.trackingHostReady]
  }
  t.same(await ready(), [undefined, false], 'none is asked for')
  t.match(await setTrackingHost(deps, accountId, 'shop.test', 'Links.shop.test'), {
    trackingHost: host,
    trackingHostReady: false,
  })
  resolver.set(at, { a: ['192.0.2.7'], aaaa: ['2001:db8::7'] })
  for (const [what, records, state, isReady] of [
    ['nothing', undefined, 'missing', false],
    ['an address of another', { a: ['192.0.2.8'] }, 'different', false],
    ['another name', { cname: 'elsewhere.test' }, 'different', false],
    ['its name', { cname: at }, 'ok', true],
    ['no answer', { fail: 'servfail' }, 'unknown', true],
    ['nothing again', undefined, 'missing', false],
    ['no answer then', { fail: 'timeout' }, 'unknown', false],
    ['its address', { a: ['192.0.2.7', '192.0.2.9'] }, 'ok', true],
    ['its IPv6 address', { aaaa: ['2001:db8::7'] }, 'ok', true],
  ] as const) {
    resolver.set(host, records && { ...records })
    t.same(await ready(), [state, isReady], what)
  }
  const moved = await setTrackingHost(deps, accountId, 'shop.test', 'l.shop.test')
  t.equal(moved.trackingHostReady, false, 'another host has to be seen anew')
  t.match(await setTrackingHost(deps, accountId, 'shop.test', null), { trackingHost: null })
  const url = loadConfig({ env: { POSTHORN_HTTP_PUBLIC_URL: 'https://m.example.test:8443' } })
  const [last] = domainRecords({ ...moved, trackingHost: host }, recordSettings(url)).slice(-1)
  t.match(last, { purpose: 'tracking', type: 'CNAME', host, value: 'm.example.test' })
  t.match(zoneLine(last as DnsRecord), 'links.shop.test. 3600 IN CNAME m.example.test.')
})

t.test('what is changed while the DNS is asked is not written back as it was', async (t) => {
  const { deps, accountId, resolver, publish, verify } = await open(t)
  publish()
  const old = 'old.shop.test'
  await setTrackingHost(deps, accountId, 'shop.test', old)
  resolver.set(old, { cname: 'mail.appliance.test', a: ['192.0.2.25'] })
  resolver.set('mail.appliance.test', { a: ['192.0.2.25'] })
  t.match((await verify()).domain, { trackingHost: old, trackingHostReady: true })
  const asked: Resolver = {
    ...resolver,
    async cname(name) {
      const answer = await resolver.cname(name)
      await setTrackingHost(deps, accountId, 'shop.test', 'new.shop.test')
      return answer
    },
  }
  const { domain } = await verifyDomain({ ...deps, resolver: asked }, accountId, 'shop.test')
  t.match(domain, { trackingHost: 'new.shop.test', trackingHostReady: false, status: 'verified' })
  // A word that is given for what was seen does not speak for what came after.
  const trust = { trust: true }
  t.match(
    (await verifyDomain({ ...deps, resolver: asked }, accountId, 'shop.test', trust)).domain,
    { trackingHostReady: true, trusted: true },
    'the host was the same this time',
  )
})

t.test('an older look that ends last takes nothing back', async (t) => {
  const { deps, accountId, clock, resolver, publish, verify, rsa } = await open(t)
  const slow: Resolver = {
    ...resolver,
    async txt(name) {
      const answer = await resolver.txt(name)
      if (name === rsa.host) {
        publish()
        t.equal((await verify()).domain.status, 'verified')
        await clock.advance(1_000)
      }
      return answer
    },
  }
  const { domain, records } = await verifyDomain(
    { ...deps, resolver: slow },
    accountId,
    'shop.test',
  )
  t.match(domain, { status: 'verified', returnPath: true })
  t.match(records, [{ purpose: 'dkim-rsa', state: 'missing' }], 'it says what it has seen')
  resolver.set(rsa.host, {})
  t.equal((await verify()).domain.status, 'pending', 'the next one alone counts again')
})
