// Issue 46: limits of requests hold for the sum of what several nodes have counted.
import t from 'tap'
import { makeSharedCounts } from '../../src/bounded/index.js'
import { makeFormLimits } from '../../src/forms/sent-in-limits.js'
import { makeRateLimiter } from '../../src/http/index.js'
import { makeRateExchange } from '../../src/nodes/index.js'
import { makeInvitationMails } from '../../src/people/failure-limits.js'
import { makeQuota } from '../../src/smtpd/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { countStatements } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

const windowMs = 60_000

function nodeOver(store: Store, clock: FakeClock, number: number) {
  const counts = makeSharedCounts()
  const node = {
    number,
    epoch: number,
    silentMs: () => 0,
    isOthers: () => false,
    othersCommits: () => 0,
  }
  const exchange = makeRateExchange({ store: { ...store, node }, clock }, counts)
  const limiter = makeRateLimiter({ requests: 100, windowMs }, clock, {
    together: counts.of('key'),
  })
  const quota = makeQuota(clock, { most: 10, windowMs, together: counts.of('failures') })
  const forms = makeFormLimits(clock, counts)
  const invitations = makeInvitationMails(clock, counts)
  return { run: exchange.run, limiter, quota, forms, invitations }
}

async function threeNodes(t: Parameters<typeof openTestStore>[0]) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const nodes = [1, 2, 3].map((number) => nodeOver(store, clock, number))
  const exchange = async () => {
    for (const { run } of nodes) await run()
    for (const { run } of nodes) await run()
  }
  const rows = () => store.read.selectFrom('rates').selectAll().orderBy('node').execute()
  const [one, two, three] = nodes
  if (one === undefined || two === undefined || three === undefined) throw new Error('three')
  return { clock, store, exchange, rows, one, two, three }
}

t.test('a key has its limit once, whichever nodes it asks', async (t) => {
  const { clock, exchange, rows, one, two, three } = await threeNodes(t)
  for (let n = 0; n < 40; n++) one.limiter.take('a')
  for (let n = 0; n < 11; n++) two.limiter.take('a')
  await exchange()
  t.match(await rows(), [
    { key: 'key a', node: 1, count: 40 },
    { key: 'key a', node: 2, count: 11 },
  ])
  t.match(three.limiter.look('a'), { allowed: true, remaining: 49 })
  t.match(one.limiter.look('a'), { remaining: 49 })
  t.equal(three.limiter.look('b').remaining, 100)
  for (let n = 0; n < 49; n++) t.ok(three.limiter.take('a').allowed)
  t.notOk(three.limiter.take('a').allowed)
  await exchange()
  t.notOk(one.limiter.take('a').allowed)
  const { resetAt } = two.limiter.look('a')
  t.equal(resetAt % windowMs, 0, 'windows end at the same moments')
  await clock.advance(resetAt - clock.now())
  t.ok(one.limiter.take('a').allowed)
  t.match(one.limiter.look('a'), { remaining: 99 })
  await exchange()
  t.equal(three.limiter.look('a').remaining, 100)
})

t.test('who stays below a tenth is no row', async (t) => {
  const { exchange, rows, one, two } = await threeNodes(t)
  for (let n = 0; n < 10; n++) one.limiter.take('a')
  await exchange()
  t.same(await rows(), [])
  one.limiter.take('a')
  await exchange()
  two.limiter.take('a')
  await exchange()
  t.match(await rows(), [{ count: 11 }, { count: 1 }], 'its first one elsewhere counts at once')
})

t.test('quotas of submission hold together', async (t) => {
  const { exchange, one, two, three } = await threeNodes(t)
  for (let n = 0; n < 5; n++) t.ok(one.quota.take('192.0.2.1'))
  for (let n = 0; n < 4; n++) t.ok(two.quota.take('192.0.2.1'))
  await exchange()
  t.ok(three.quota.has('192.0.2.1', 1))
  t.ok(three.quota.take('192.0.2.1'))
  t.notOk(three.quota.take('192.0.2.1'))
  await exchange()
  for (const { quota } of [one, two, three]) t.notOk(quota.has('192.0.2.1', 1))
})

t.test('forms and invitations hold together, and no row says who is invited', async (t) => {
  const { exchange, rows, one, two } = await threeNodes(t)
  const asked = { formId: 'f', isCareful: false, network: '192.0.2.1', domain: 'x.test' }
  for (let n = 0; n < 20; n++) t.equal(one.forms.ofSender(asked), undefined)
  await exchange()
  for (let n = 0; n < 10; n++) t.equal(two.forms.ofSender(asked), undefined)
  t.equal(two.forms.ofSender(asked), 'network', 'thirty an hour, at both')
  await exchange()
  t.equal(one.forms.ofSender(asked), 'network')
  for (let n = 0; n < 2; n++) t.ok(one.invitations.take('a', 'Olga@x.test'))
  await exchange()
  t.ok(two.invitations.take('a', 'olga@x.test'))
  t.notOk(two.invitations.take('a', 'olga@x.test'), 'three a day')
  t.ok(two.invitations.take('a', 'other@x.test'))
  await exchange()
  t.notOk(one.invitations.take('a', 'olga@x.test'))
  t.notMatch(JSON.stringify(await rows()), /olga/)
})

t.test('one upsert and one look a time, and past windows go', async (t) => {
  const { clock, store, rows, one, two } = await threeNodes(t)
  for (let key = 0; key < 50; key++) for (let n = 0; n < 20; n++) one.limiter.take(`key ${key}`)
  const ran = countStatements(t)
  t.equal(await one.run(), true)
  const told = [...ran].filter(([text]) => /"rates"/.test(text))
  t.same(
    told.map(([, times]) => times),
    [1, 1],
  )
  ran.clear()
  t.equal(await two.run(), true, 'it hears of them')
  t.equal([...ran.keys()].filter((text) => /"rates"/.test(text)).length, 1)
  await clock.advance(3 * windowMs)
  t.equal(await two.run(), false)
  t.same(await rows(), [])
  one.limiter.take('c')
  t.equal(await one.run(), false, 'what is past is not told')
  t.ok(store)
})

t.test('what could not be told is told later', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let isAway = true
  const counts = makeSharedCounts()
  const byRow: Store['byRow'] = async (work) => {
    if (isAway) throw new Error('away')
    return await store.byRow(work)
  }
  const { run } = makeRateExchange({ store: { ...store, byRow }, clock }, counts)
  const limiter = makeRateLimiter({ requests: 10, windowMs }, clock, { together: counts.of('key') })
  limiter.take('a')
  limiter.take('a')
  await t.rejects(run(), /away/)
  isAway = false
  await run()
  t.match(await store.read.selectFrom('rates').selectAll().execute(), [{ count: 2 }])
  t.same(counts.untold(clock.now(), 10), [])
})
