// Issue 'what operators and developers ask' 9: what a rehearsal says of small domains is no multiple of what is there.
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { createList } from '../../src/contacts/index.js'
import { domainShares } from '../../src/rehearsals/audience-domains.js'
import { FakeClock } from '../support/clock.js'
import { directTo, startPosthorn } from '../support/posthorn.js'
import { openTestStore } from '../support/store.js'

const clock = new FakeClock()
const store = await openTestStore(t, { clock })
const { id: account } = await createAccount({ store, clock }, 'One')

/** A list of so many at each domain, one domain behind the other, as in a file that is sorted by them. */
async function listOf(name: string, sizes: Record<string, number>): Promise<string> {
  const { id } = await createList({ store, clock }, account, name)
  const emails = Object.entries(sizes).flatMap(([domain, size]) =>
    Array.from({ length: size }, (_, n) => `${name}${n}@${domain}`),
  )
  const rows = emails.map((email) => ({ id: store.ids.uuid(), email }))
  for (let from = 0; from < rows.length; from += 500) {
    const some = rows.slice(from, from + 500)
    await store.write(async (tx) => {
      const contacts = some.map((row) => ({ ...row, account_id: account, address: row.email }))
      await tx
        .insertInto('contacts')
        .values(contacts.map((row) => ({ ...row, created_at: 0 })))
        .execute()
      await tx
        .insertInto('list_members')
        .values(some.map((row) => ({ list_id: id, contact_id: row.id, added_at: 0 })))
        .execute()
    })
  }
  const change = { contact_count: rows.length }
  await store.write((tx) =>
    tx.updateTable('contact_lists').set(change).where('id', '=', id).execute(),
  )
  return id
}

const small = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`s${n}.test`, 1 + (n % 9)]))
const large = { 'big.test': 4_000, 'middle.test': 1_500, 'less.test': 800 }
const whole = await listOf('a', { ...small, ...large })
const other = await listOf('b', { 'big.test': 200 })

t.test('of a large list domains that are told are told as they are, others together', async (t) => {
  const sum = Object.values({ ...small, ...large }).reduce((all, size) => all + size, 0)
  const whom = { lists: [whole], segments: [] }
  const { told, rough } = await domainShares(store.read, account, whom, 700)
  for (const [domain, share] of told) {
    const has = large[domain as keyof typeof large] ?? 0
    t.ok(Math.abs(share * sum - has) <= 0.05 * has, `${domain}: ${share * sum} told, ${has} there`)
  }
  t.same([...told.keys()].sort(), Object.keys(large).sort())
  const together = [...rough.values()].reduce((all, share) => all + share, 0) * sum
  t.ok(Math.abs(together - (sum - 6_300)) <= 0.1 * sum, `${together} at small ones`)
})

t.test(
  'what is counted to the end is told to the last one, of several lists together',
  async (t) => {
    const both = { lists: [whole, other], segments: [] }
    const { told, rough } = await domainShares(store.read, account, both)
    t.equal(rough.size, 0)
    t.equal(told.size, 103)
    const all = [...told.values()].reduce((sum, share) => sum + share, 0)
    t.ok(Math.abs(all - 1) < 1e-9)
    t.equal(Math.round((told.get('big.test') ?? 0) / (told.get('less.test') ?? 1)), 5)
    t.match(await domainShares(store.read, account, { lists: [], segments: [] }), {
      told: new Map(),
      rough: new Map(),
    })
  },
)

t.test('the answer of the API names no files of the operator', async (t) => {
  const posthorn = await startPosthorn(t, directTo({ port: 25 }))
  const { store, accountId, call } = posthorn
  const { marketing } = loadPlans(packageFile('config/plans.toml'))
  await store.write((tx) => setMarketingPlan(tx, accountId, marketing.at(-1) ?? null))
  const { id: listId } = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json
  for (let i = 0; i < 15; i++) {
    await call('POST', `/v1/contacts/${listId}`, { body: { email: `c${i}@example.org` } })
  }
  const draft = { listId, from: 'a@sender.test', subject: 'x', html: '<p>x</p>', draft: true }
  const { id } = (await call('POST', '/v1/broadcasts', { body: draft })).json
  const { json } = await call('POST', `/v1/broadcasts/${id}/rehearse`)
  t.match(json.sites, [{ says: /^10 connections at once from each address$/ }])

  const many = Array.from({ length: 8 }, () => call('POST', `/v1/broadcasts/${id}/rehearse`))
  const codes = (await Promise.all(many)).map(({ status }) => status).sort()
  t.same(codes, [200, 200, 200, 200, 429, 429, 429, 429], 'one at a time, and three wait')
})

for (const [route, options] of [
  ['sandbox', {}],
  ['direct', directTo({ port: 25 })],
] as const) {
  t.test(`a provider of the simulator is told as itself where the route is ${route}`, async (t) => {
    const { store: own, accountId, call } = await startPosthorn(t, options)
    const { marketing } = loadPlans(packageFile('config/plans.toml'))
    await own.write((tx) => setMarketingPlan(tx, accountId, marketing.at(-1) ?? null))
    const { id: listId } = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json
    for (const at of ['defers-2h.simulator.posthorn.test', 'simulator.posthorn.test', 'b.test']) {
      await call('POST', `/v1/contacts/${listId}`, { body: { email: `delivered@${at}` } })
    }
    const draft = { listId, from: 'a@sender.test', subject: 'x', html: '<p>x</p>', draft: true }
    const { id } = (await call('POST', '/v1/broadcasts', { body: draft })).json
    const { json } = await call('POST', `/v1/broadcasts/${id}/rehearse`)
    t.equal(json.sites.length, 3)
    t.match(json.sites[0], { site: 'simulator defers-2h', recipients: 1, gate: 'hold' })
    t.match(json.heldUp.says, /the simulator's provider puts all mail off until/)
    const hours = (Date.parse(json.doneAt) - Date.parse(json.startsAt)) / 3_600_000
    t.ok(hours >= 2 && hours < 3, `${hours}`)
    t.ok(json.sites.some((one: { site: string }) => one.site === 'simulator'))
  })
}
