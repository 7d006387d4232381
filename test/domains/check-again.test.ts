import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import {
  addDomain,
  checkDomainsAgain,
  domainRecords,
  findDomain,
  setTrackingHost,
  verifyDomain,
} from '../../src/domains/index.js'
import { silentLog } from '../../src/log/index.js'
import { openNotices, pastNotices } from '../../src/notices/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'

const hourMs = 3_600_000
const settings = { heloName: 'mail.posthorn.test', sourceAddresses: ['192.0.2.25'] }

async function openDomain(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, 'Library')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const deps = { store, clock, key }
  const added = await addDomain(deps, accountId, 'books.test')
  const resolver = fakeResolver()
  const publish = () => {
    for (const { host, type, value } of domainRecords(added, settings)) {
      const others = host === 'bounce.books.test'
      if (others && type === 'MX') continue
      const mx = others ? { mx: [{ preference: 10, exchange: settings.heloName }] } : {}
      resolver.set(host, { txt: [value], ...mx })
    }
  }
  publish()
  await verifyDomain({ store, clock, resolver, settings }, accountId, 'books.test')
  const rsa = added.keys.find(({ algorithm }) => algorithm === 'rsa-sha256')?.selector ?? ''
  const ed = added.keys.find(({ algorithm }) => algorithm === 'ed25519-sha256')?.selector ?? ''
  const { signal } = new AbortController()
  return {
    clock,
    store,
    resolver,
    publish,
    accountId,
    deps,
    rsaHost: `${rsa}._domainkey.books.test`,
    edHost: `${ed}._domainkey.books.test`,
    domain: () => findDomain(store.read, accountId, 'books.test'),
    look: () => checkDomainsAgain({ store, clock, resolver, settings, signal, log: silentLog }),
    notices: () => openNotices(store.read),
  }
}

t.test('a record is gone after three looks over four hours, and its notice has it', async (t) => {
  const { clock, resolver, look, notices, domain, rsaHost, publish, store } = await openDomain(t)
  t.match(await look(), { checked: 1, broken: [] })
  resolver.set(rsaHost, undefined)
  for (let hours = 0; hours < 4; hours += 2) {
    t.match(await look(), { broken: [] })
    await clock.advance(2 * hourMs)
  }
  t.same(await notices(), [])
  t.match(await look(), { broken: ['books.test'] })
  const [told, ...others] = await notices()
  t.same(others, [])
  t.match(told, { kind: 'domain-record', severity: 'burning' })
  t.match(told?.text, /^A DNS record of books\.test is gone\nTXT of /)
  t.match(told?.fix, `${rsaHost}. 3600 IN TXT "v=DKIM1; k=rsa; p=`)
  t.equal((await domain()).status, 'verified', 'its mail goes on')
  publish()
  await look()
  t.same(await notices(), [])
  t.match(await pastNotices(store.read, 1), [{ kind: 'domain-record' }])
})

t.test('no answer of the DNS is no look, and ends no notice', async (t) => {
  const { clock, resolver, look, notices, rsaHost } = await openDomain(t)
  resolver.set(rsaHost, { fail: 'SERVFAIL' })
  for (let i = 0; i < 10; i++) {
    t.match(await look(), { unanswered: 1, broken: [] })
    await clock.advance(2 * hourMs)
  }
  resolver.set(rsaHost, undefined)
  for (let i = 0; i < 3; i++) {
    await look()
    await clock.advance(2 * hourMs)
  }
  t.equal((await notices()).length, 1)
  resolver.set(rsaHost, { fail: 'SERVFAIL' })
  await look()
  t.equal((await notices()).length, 1)
})

t.test('what a domain can do without goes out of use, and comes back', async (t) => {
  const { clock, resolver, look, domain, notices, edHost, publish } = await openDomain(t)
  const edUsed = async () =>
    (await domain()).keys.find(({ algorithm }) => algorithm === 'ed25519-sha256')?.verified
  t.ok((await domain()).returnPath)
  t.ok(await edUsed())
  resolver.set('bounce.books.test', undefined)
  resolver.set(edHost, undefined)
  for (let i = 0; i < 3; i++) {
    await look()
    await clock.advance(2 * hourMs)
  }
  t.notOk((await domain()).returnPath)
  t.notOk(await edUsed())
  const [told] = await notices()
  t.equal(told?.severity, 'daily')
  t.match(told?.text, /^DNS records of books\.test are gone/)
  t.match(told?.fix, /bounce\.books\.test\. 3600 IN MX 10 mail\.posthorn\.test\./)
  publish()
  await look()
  t.ok((await domain()).returnPath)
  t.ok(await edUsed())
  t.same(await notices(), [])
})

t.test('a domain that is deleted, or trusted by word, is nobody to be told of', async (t) => {
  const { clock, resolver, look, notices, rsaHost, store, deps, accountId } = await openDomain(t)
  await addDomain(deps, accountId, 'trusted.test', { trust: true })
  resolver.set(rsaHost, undefined)
  for (let i = 0; i < 3; i++) {
    t.match(await look(), { checked: 1 })
    await clock.advance(2 * hourMs)
  }
  t.equal((await notices()).length, 1)
  await store.write((tx) => tx.deleteFrom('domains').where('name', '=', 'books.test').execute())
  await look()
  t.same(await notices(), [])
})

t.test('a host for links that is set during a look is not used before it was seen', async (t) => {
  const { clock, store, resolver, accountId, deps, domain } = await openDomain(t)
  await setTrackingHost(deps, accountId, 'books.test', 'old.books.test')
  resolver.set('old.books.test', { cname: settings.heloName, a: ['192.0.2.25'] })
  resolver.set(settings.heloName, { a: ['192.0.2.25'] })
  await verifyDomain({ store, clock, resolver, settings }, accountId, 'books.test')
  t.match(await domain(), { trackingHostReady: true })
  const asked = {
    ...resolver,
    async cname(name: string) {
      await setTrackingHost(deps, accountId, 'books.test', 'new.books.test')
      return await resolver.cname(name)
    },
  }
  const { signal } = new AbortController()
  const look = { store, clock, resolver: asked, settings, signal, log: silentLog }
  t.match(await checkDomainsAgain(look), { checked: 1, broken: [] })
  t.match(await domain(), { trackingHost: 'new.books.test', trackingHostReady: false })
})
