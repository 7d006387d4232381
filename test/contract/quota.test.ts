// interface.md: Limits (caps), 402 and 429 bodies, account states; decisions.md: Sending, Plans.
import t from 'tap'
import {
  findPlan,
  loadPlans,
  setBillingState,
  setPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import type { Tx } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'

const plans = loadPlans(packageFile('config/plans.toml'))
const free = findPlan(plans.email, 'Free')
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const many = (n: number) => Array.from({ length: n }, (_, i) => `r${i}@example.com`)
const batch = (posthorn: Posthorn, n: number) =>
  posthorn.call('POST', '/v1/emails/batch', {
    body: { emails: Array.from({ length: n }, () => good) },
  })
const stored = async (posthorn: Posthorn) =>
  (await posthorn.store.read.selectFrom('emails').select('id').execute()).length

const noon = '2046-11-21T12:00:00Z'

/**
 * An appliance whose account has the Free plan: 3,000 a month, 100 a day. Its time is far ahead of the
 * outbound threads', so that nothing of it is ever due to them.
 */
async function onFree(t: Parameters<typeof startPosthorn>[0], now = noon, of = start(t, now)) {
  const { posthorn, clock } = await of
  const set = (work: (tx: Tx) => Promise<unknown>) => posthorn.store.write(work)
  await set(async (tx) => {
    await setPlan(tx, posthorn.accountId, free)
    await tx.deleteFrom('usage').execute()
  })
  const before = await stored(posthorn)
  const use = (monthMails: number, dayMails: number) =>
    set(async (tx) => {
      await tx.deleteFrom('usage').where('account_id', '=', posthorn.accountId).execute()
      const { addUsage } = await import('../../src/billing/usage.js')
      if (monthMails > dayMails) {
        const earlier = Date.parse(now) - 86_400_000
        await addUsage(tx, posthorn.accountId, earlier, {
          mails: monthMails - dayMails,
          campaignMails: 0,
        })
      }
      await addUsage(tx, posthorn.accountId, Date.parse(now), { mails: dayMails, campaignMails: 0 })
    })
  const storedSince = async () => (await stored(posthorn)) - before
  return { posthorn, clock, set, use, storedSince }
}

async function start(t: Parameters<typeof startPosthorn>[0], now: string) {
  const clock = new FakeClock(Date.parse(now))
  return { posthorn: await startPosthorn(t, { clock }), clock }
}

/** The appliance of those tests for which it stays noon; each leaves its account as it was. */
let atNoon: ReturnType<typeof start> | undefined
const stillNoon = () => {
  atNoon ??= start(t, noon)
  return onFree(t, noon, atNoon)
}

t.test(
  'daily cap: 429 { error, dailyLimit, dailySent, resetsAt, plan }, over at midnight UTC',
  async (t) => {
    const { posthorn, clock } = await onFree(t)
    t.equal((await posthorn.send({ ...good, to: many(50) })).status, 200)
    t.equal((await posthorn.send({ ...good, to: many(50) })).status, 200)
    const { status, json, headers } = await posthorn.send(good)
    t.equal(status, 429)
    t.match(json, {
      code: 'daily_quota_exceeded',
      error: String,
      dailyLimit: 100,
      dailySent: 100,
      resetsAt: '2046-11-22T00:00:00.000Z',
      plan: 'Free',
    })
    t.equal(headers.get('retry-after'), String(12 * 3_600))
    clock.jump(12 * 3_600_000 - 1)
    t.equal((await posthorn.send(good)).status, 429)
    await clock.advance(1)
    t.equal((await posthorn.send(good)).status, 200)
  },
)

t.test('monthly cap: 402 { error, limit, used, plan }, over on the 1st', async (t) => {
  const { posthorn, clock, use } = await onFree(t, '2046-11-30T23:00:00Z')
  await use(3_000, 0)
  const { status, json } = await posthorn.send(good)
  t.equal(status, 402)
  t.match(json, {
    code: 'monthly_quota_exceeded',
    error: String,
    limit: 3_000,
    used: 3_000,
    plan: 'Free',
  })
  clock.jump(3_600_000)
  t.equal((await posthorn.send(good)).status, 200)
})

t.test(
  'batch pre-flight: canSend, 402 for the month and 429 for the day, nothing queued',
  async (t) => {
    const { posthorn, use, storedSince } = await stillNoon()
    await use(90, 90)
    const daily = await batch(posthorn, 11)
    t.match(daily, {
      status: 429,
      json: { code: 'daily_quota_exceeded', error: String, canSend: 10 },
    })
    await use(2_995, 0)
    const monthly = await batch(posthorn, 6)
    t.match(monthly, {
      status: 402,
      json: { code: 'monthly_quota_exceeded', error: String, canSend: 5 },
    })
    t.equal(await storedSince(), 0)
    t.equal((await batch(posthorn, 5)).status, 200)
  },
)

t.test('100 parallel sends at 10 left: exactly 10 succeed', async (t) => {
  const { posthorn, use, storedSince } = await stillNoon()
  await use(90, 90)
  const answers = await Promise.all(Array.from({ length: 100 }, () => posthorn.send(good)))
  t.equal(answers.filter(({ status }) => status === 200).length, 10)
  t.equal(answers.filter(({ status }) => status === 429).length, 90)
  t.equal(await storedSince(), 10)
})

t.test('cancelling gives the count back', async (t) => {
  const { posthorn, clock, use } = await stillNoon()
  await use(99, 99)
  const scheduledAt = new Date(clock.now() + 3_600_000).toISOString()
  const { json } = await posthorn.send({ ...good, scheduledAt })
  t.equal((await posthorn.send(good)).status, 429)
  await posthorn.call('DELETE', `/v1/emails/${json.id}/cancel`)
  t.equal((await posthorn.send(good)).status, 200)
})

t.test('a batch across midnight is counted, and given back, in one day', async (t) => {
  const { posthorn, clock } = await onFree(t, '2046-11-21T23:59:59.999Z')
  const scheduledAt = '2046-11-23T00:00:00Z'
  const emails = [
    { ...good, scheduledAt },
    { ...good, scheduledAt },
  ]
  const { json } = await posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
  await clock.advance(1)
  for (const id of json.ids) await posthorn.call('DELETE', `/v1/emails/${id}/cancel`)
  const rows = await posthorn.store.read.selectFrom('usage').select(['period', 'mails']).execute()
  t.same(
    rows.filter(({ mails }) => mails !== 0),
    [],
  )
})

t.test('unlimited plans skip both; the first account has one, later ones are Free', async (t) => {
  const posthorn = await startPosthorn(t)
  for (let i = 0; i < 3; i++) t.equal((await batch(posthorn, 100)).status, 200)
  const { json } = await posthorn.call('GET', '/v1/billing/plans', { key: null })
  t.match(
    json.plans.find((plan: { name: string }) => plan.name === 'Free'),
    {
      id: /^[0-9a-f-]{36}$/,
      monthlyLimit: 3_000,
      priceNaira: 0,
      paymentProviderPlanCode: null,
      retentionDays: 7,
      features: Array,
    },
  )
  t.match(
    json.plans.find((plan: { name: string }) => plan.name === 'Unlimited'),
    { monthlyLimit: 0, unlimited: true },
  )
})

t.test('suspended, expired, past due', async (t) => {
  const { posthorn, set } = await stillNoon()
  const id = posthorn.accountId
  await set((tx) => suspend(tx, id, 'abuse'))
  for (const answer of [await posthorn.send(good), await batch(posthorn, 2)]) {
    t.match(answer, { status: 403, json: { code: 'account_suspended', error: String } })
    t.notMatch(answer.text, /abuse/)
  }
  await set((tx) => unsuspend(tx, id))
  t.equal((await posthorn.send(good)).status, 200, 'on the very next request')
  await set((tx) => setBillingState(tx, id, 'expired'))
  t.match(await posthorn.send(good), { status: 403, json: { code: 'subscription_expired' } })
  await set((tx) => setBillingState(tx, id, 'past_due'))
  t.equal((await posthorn.send(good)).status, 200, 'sending goes on')
  await set((tx) => setBillingState(tx, id, 'active'))
})

t.test('a paused account: 503 { error, reason }', async (t) => {
  const { posthorn, set } = await stillNoon()
  await set((tx) => tx.updateTable('subscriptions').set({ paused: 'complaint' }).execute())
  for (const answer of [await posthorn.send(good), await batch(posthorn, 2)]) {
    t.match(answer, {
      status: 503,
      json: { code: 'account_paused', error: String, reason: 'complaint' },
    })
  }
  await set((tx) => tx.updateTable('subscriptions').set({ paused: null }).execute())
})
