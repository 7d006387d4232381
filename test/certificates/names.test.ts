// Thorough: whole appliances, each with an authority that looks at a dozen names.
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { heldNames } from '../../src/certificates/held.js'
import { wantedNames } from '../../src/certificates/index.js'
import { blankRow, dueNames } from '../../src/certificates/state.js'
import { dayMs } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { addDomain, deleteDomain, setTrackingHost } from '../../src/domains/index.js'
import { changeNode, takeDatabase, tellRecords } from '../../src/nodes/index.js'
import type { CertificateOrderRow, CertificateRow } from '../../src/store/index.js'
import { acmeRig } from '../support/acme-rig.js'
import { testCertificates } from '../support/tls.js'

const tls = testCertificates(t, 'acme.test')

/** A rig whose domains are trusted by the operator's word, and so their hosts too. */
async function rig(t: Test, env: Record<string, string> = {}) {
  const made = await acmeRig(t, await tls, { env: { ...links, ...env } })
  const { store, clock, deps, resolver } = made
  let accounts = 0
  return {
    ...made,
    account: async () => (await createAccount(deps, `Account ${++accounts}`)).id,
    async host(accountId: string, name: string, options: { trust?: boolean } = {}) {
      await clock.advance(1)
      await addDomain(deps, accountId, name, { trust: options.trust !== false })
      await setTrackingHost(deps, accountId, name, `links.${name}`)
      resolver.set(`links.${name}`, { a: ['127.0.0.1'] })
    },
    wanted: async () => (await wantedNames(store.read, deps.config)).map(({ name }) => name),
  }
}

const here = { POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true' }
const links = {
  POSTHORN_HTTP_PUBLIC_TLS_ENABLED: 'true',
  POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test',
}

t.test('the names are those of listeners with TLS and no files, and of the settings', async (t) => {
  const { store } = await rig(t)
  const acme = { POSTHORN_TLS_ACME: 'true', POSTHORN_TLS_AGREE_TO_TERMS: 'true' }
  const names = async (env: Record<string, string>) =>
    (await wantedNames(store.read, loadConfig({ env: { ...acme, ...env } }))).map(
      ({ name }) => name,
    )
  t.same(await names({}), [], 'a machine that is called localhost has none')
  const url = { POSTHORN_HTTP_PUBLIC_URL: 'https://Links.example.com:8443' }
  t.same(await names(url), [], 'a proxy that ends the TLS has certificates of its own')
  const own = { ...url, POSTHORN_HTTP_PUBLIC_TLS_ENABLED: 'true' }
  const all = {
    ...own,
    POSTHORN_OUTBOUND_HELO_NAME: 'mx.example.com',
    POSTHORN_HTTP_PRIVATE_TLS_ENABLED: 'true',
    POSTHORN_HTTP_PRIVATE_ALLOWED_HOSTS: 'posthorn.example.com,posthorn,10.0.0.1',
    POSTHORN_TLS_NAMES: 'api.example.com,posthorn.example.com',
  }
  const listeners = ['links.example.com', 'mx.example.com', 'posthorn.example.com']
  t.same(await names(all), [...listeners, 'api.example.com'])
  const { valid } = await tls
  const files = {
    POSTHORN_HTTP_PUBLIC_TLS_CERTIFICATE: valid.certFile,
    POSTHORN_HTTP_PUBLIC_TLS_KEY: valid.keyFile,
    POSTHORN_INBOUND_TLS_CERTIFICATE: valid.certFile,
    POSTHORN_INBOUND_TLS_KEY: valid.keyFile,
  }
  t.same(await names({ ...all, ...files }), ['posthorn.example.com', 'api.example.com'])
  const address = { ...own, POSTHORN_HTTP_PUBLIC_URL: 'https://192.0.2.1' }
  t.same(await names(address), [], 'an address is no name')
})

t.test('a customer’s host gets its certificate, and loses it with the domain', async (t) => {
  const { account, host, renew, deps, certificate, isDue } = await rig(t, here)
  const id = await account()
  await host(id, 'shop.test')
  t.equal(await isDue(), true)
  t.same((await renew()).issued, ['mail.test', 'links.shop.test'])
  t.ok(certificate('links.shop.test'))
  await deleteDomain(deps, id, 'shop.test')
  t.equal(await isDue(), true)
  t.same((await renew()).removed, ['links.shop.test'])
  t.equal(certificate('links.shop.test'), undefined)
})

t.test('a customer’s host at a private address gets none, though it is ours', async (t) => {
  const { account, host, renew, directory } = await rig(t)
  await host(await account(), 'shop.test')
  const { issued, failed } = await renew()
  t.same(issued, ['mail.test'], 'the operator’s own may be')
  t.match(failed, [/^links\.shop\.test: it resolves to 127\.0\.0\.1, a private address/])
  t.equal(directory.orders.length, 1)
})

t.test(
  'a host whose DNS was not seen to lead here is not asked for, and keeps what it has',
  async (t) => {
    const { account, host, renew, store, certificate, isDue } = await rig(t, here)
    const id = await account()
    await host(id, 'new.test', { trust: false })
    await host(id, 'old.test')
    t.same((await renew()).issued, ['mail.test', 'links.old.test'])
    await store.write((tx) => tx.updateTable('domains').set({ tracking_host_ready: 0 }).execute())
    t.equal(await isDue(), false)
    t.same((await renew()).removed, [])
    t.ok(certificate('links.old.test'), 'mail that has left has links to it')
  },
)

t.test(
  'of several nodes one gets the certificates of all, whichever a name leads to',
  async (t) => {
    const { renew, store, resolver, wanted, isDue, certificate } = await rig(t, {
      POSTHORN_NODE_JOIN: 'true',
      POSTHORN_NODE_NAME: 'one',
    })
    const join = (name: string) => takeDatabase(store, { name, joins: true })
    const two = await join('two')
    if (two === undefined) throw new Error('somebody has it')
    const told = { spf: [], mx: null, names: ['two.test', 'mail.test'], addresses: ['192.0.2.2'] }
    await tellRecords(store, two, told)
    resolver.set('mail.test', { a: ['127.0.0.1', '192.0.2.2'] })
    resolver.set('two.test', { a: ['192.0.2.3'] })
    const { issued, failed } = await renew()
    t.same(issued, ['mail.test'])
    t.match(failed, [
      /^two\.test: it resolves to 192\.0\.2\.3, which is not an address of the nodes/,
    ])
    await tellRecords(store, two, { ...told, addresses: ['192.0.2.2', '192.0.2.3'] })
    await store.write((tx) => tx.updateTable('certificates').set({ next_at: 0 }).execute())
    t.same((await renew()).issued, ['two.test'])
    const die = () =>
      store.write((tx) => tx.updateTable('nodes').set({ gone_at: 1, held_until: 0 }).execute())
    await die()
    t.same((await renew()).removed, [], 'it may come back')
    await join('two')
    t.same(await wanted(), ['mail.test', 'two.test'], 'before it has told anything anew')
    t.equal(await isDue(), false)
    t.ok(certificate('two.test'))
    await die()
    await store.write((tx) => changeNode(tx, 'forget', 'two'))
    t.same((await renew()).removed, ['two.test'])
  },
)

t.test('a customer at the directory’s limit keeps no other from certificates', async (t) => {
  const { account, host, renew, directory, clock, row, ...world } = await rig(t, here)
  const [limited, other] = [await account(), await account()]
  directory.behaviour.limited = /limited|also-limited/
  for (const name of ['limited.test', 'also-limited.test']) await host(limited, name)
  await host(limited, 'sub.limited.test')
  await host(other, 'other.test')
  const { issued, failed } = await renew()
  t.same(
    issued,
    ['mail.test', 'links.other.test'],
    'two limits of one customer are no limit of all',
  )
  t.equal(failed.length, 2)
  const asked = directory.requests.filter((one) => one === 'POST /new-order')
  t.equal(asked.length, 4, 'a name of the same domain is not asked for')
  t.ok(((await row('links.sub.limited.test'))?.next_at ?? 0) > clock.now())
  t.match(await world.store.read.selectFrom('acme_accounts').select('next_at').execute(), [
    { next_at: 0 },
  ])
  // Of another customer, too: it may be a limit of our account.
  await clock.advance(60_000)
  const third = await account()
  directory.behaviour.limited = /third|fourth/
  await host(third, 'third.test')
  await host(other, 'fourth.test')
  await host(other, 'fifth.test')
  t.same((await renew()).issued, [])
  t.equal(await world.isDue(), false)
  await clock.advance(3_600_000)
  t.ok((await renew()).issued.includes('links.fifth.test'))
})

t.test('the hosts of one account, and of all, are bounded; the oldest go first', async (t) => {
  const { account, host, wanted } = await rig(t, {
    ...here,
    POSTHORN_TLS_TRACKING_HOSTS: '3',
    POSTHORN_TLS_TRACKING_HOSTS_PER_ACCOUNT: '2',
  })
  const [one, two] = [await account(), await account()]
  for (const name of ['a.test', 'b.test', 'c.test']) await host(one, name)
  for (const name of ['d.test', 'e.test']) await host(two, name)
  t.same(await wanted(), ['mail.test', 'links.a.test', 'links.b.test', 'links.d.test'])
})

t.test('the operator’s names go first, then those that wait longest', (t) => {
  const host = (name: string) => ({ name, domain: name, accountId: 'a', isOrdered: true })
  const wanted = [host('late.test'), host('early.test'), { name: 'own.test', isOrdered: true }]
  const rows = new Map(
    [['late.test', 30] as const, ['early.test', 10] as const, ['own.test', 40] as const].map(
      ([name, next_at]) => [name, { ...blankRow, name, next_at }],
    ),
  )
  const due = dueNames({ wanted, rows, held: new Set(), orders: [] }, loadConfig({ env: {} }), 50)
  t.same(
    due.map(({ name }) => name),
    ['own.test', 'early.test', 'late.test'],
  )
  t.end()
})

t.test('a customer who changes the host again and again leaves orders to others', async (t) => {
  const { account, host, renew, deps, directory, clock, isDue, dataDir } = await rig(t, {
    ...here,
    POSTHORN_TLS_TRACKING_HOSTS_PER_ACCOUNT: '3',
  })
  const [restless, other] = [await account(), await account()]
  await renew()
  await host(restless, 'restless.test')
  const change = async (host: string) => {
    await setTrackingHost(deps, restless, 'restless.test', host)
    await clock.advance(10_000)
    if (await isDue()) await renew()
  }
  for (let times = 0; times < 30; times++) {
    deps.resolver.set(`h${times}.restless.test`, { a: ['127.0.0.1'] })
    await change(`h${times}.restless.test`)
  }
  t.equal(directory.orders.length, 11, 'ten in a day, beside the operator’s')
  t.notOk(heldNames(dataDir).includes('h0.restless.test'), 'the file goes with the name')
  await host(other, 'other.test')
  t.same((await renew()).issued, ['links.other.test'])
  await clock.advance(dayMs)
  t.same((await renew()).issued, ['h29.restless.test'], 'the next day there is room again')
})

t.test('orders of names that have left count in the hour', async (t) => {
  const { account, host, renew, deps, directory, clock, isDue } = await rig(t, here)
  for (let times = 0; times < 6; times++) {
    const id = await account()
    await host(id, `${times}.test`)
    for (let change = 0; change < 10; change++) {
      deps.resolver.set(`h${change}.${times}.test`, { a: ['127.0.0.1'] })
      await setTrackingHost(deps, id, `${times}.test`, `h${change}.${times}.test`)
      await clock.advance(1_000)
      if (await isDue()) await renew()
    }
  }
  t.equal(directory.orders.length, 40)
})

t.test('so many orders are begun in an hour, however many hosts come at once', (t) => {
  const names = Array.from({ length: 45 }, (_, count) => `h${count}.test`)
  const wanted = names.map((name) => ({ name, isOrdered: true }))
  const rows = new Map<string, CertificateRow>()
  const orders: CertificateOrderRow[] = []
  const standing = { wanted, rows, held: new Set<string>(), orders }
  const due = (now: number) => dueNames(standing, loadConfig({ env: {} }), now)
  const begun = due(0)
  t.equal(begun.length, 40)
  for (const { name } of begun.slice(0, 38)) {
    rows.set(name, { ...blankRow, name, next_at: 90_000_000 })
    orders.push({ ordered_at: 0, name, account_id: null, is_first: 1 })
  }
  t.equal(due(3_599_999).length, 2)
  t.equal(due(3_600_000).length, 7)
  t.end()
})
