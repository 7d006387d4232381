import t, { type Test } from 'tap'
import {
  type AccountBilling,
  checkAdding,
  checkSending,
  countCampaignMails,
  countMails,
  countTogether,
  findPlan,
  giveBack,
  loadPlans,
  openSubscription,
  readBilling,
  readUsage,
  refuseUnknownPlans,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { ApiError, OperatorError } from '../../src/errors/index.js'
import type { SubscriptionRow, Tx } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const plans = loadPlans('config/plans.toml')

/** One account on the plan, and what a test does with it at the clock's time. */
async function open(t: Test, options: { at?: string; plan?: string; monthlyLimit?: number } = {}) {
  const clock = new FakeClock(Date.parse(options.at ?? '2026-11-21T12:00:00.000Z'))
  const store = await openTestStore(t, { clock })
  const id = 'a'
  await store.write(async (tx) => {
    await tx.insertInto('accounts').values({ id, name: id, created_at: 0 }).execute()
    await openSubscription(tx, id)
    await setPlan(tx, id, findPlan(plans.email, options.plan ?? 'Free'))
  })
  const billing = () => readBilling(store.read, plans, id)
  const counted = (work: (tx: Tx, billing: AccountBilling) => Promise<void>) =>
    store.write(async (tx) => {
      const billing = await readBilling(tx, plans, id)
      const { monthlyLimit = billing.plan.monthlyLimit } = options
      await work(tx, { ...billing, plan: { ...billing.plan, monthlyLimit } })
    })
  return {
    id,
    clock,
    store,
    billing,
    usage: () => readUsage(store.read, id, clock.now()),
    change: (work: (tx: Tx) => Promise<unknown>) => store.write(work),
    send: (mails = 1) => counted((tx, billing) => countMails(tx, billing, mails, clock.now())),
    batch: (mails: number) =>
      counted(async (tx, billing) => {
        const counts = [{ billing, mails, now: clock.now(), isBatch: true }]
        for (const refusal of (await countTogether(tx, counts)).values()) throw refusal
      }),
    /** Several requests in one write; of each whether it was refused, and after how many mails of the day. */
    together: (mails: readonly number[]) =>
      store.write(async (tx) => {
        const billing = await readBilling(tx, plans, id)
        const now = clock.now()
        const counts = mails.map((mails) => ({ billing, mails, now, isBatch: false }))
        const refusals = await countTogether(tx, counts)
        return counts.map((count) => refusals.get(count)?.fields.dailySent ?? 'counted')
      }),
    campaign: (mails: number) =>
      counted((tx, billing) => countCampaignMails(tx, billing, mails, clock.now())),
    giveBack: (mails: number, acceptedAt: number) =>
      store.write((tx) => giveBack(tx, id, mails, acceptedAt)),
    /** Counters as if so much had been sent before. */
    async used(month: number, day: number) {
      const today = new Date(clock.now()).toISOString().slice(0, 10)
      await store.write((tx) =>
        tx
          .insertInto('usage')
          .values([
            { account_id: id, period: today.slice(0, 7), mails: month, campaign_mails: 0 },
            { account_id: id, period: today, mails: day, campaign_mails: 0 },
          ])
          .execute(),
      )
    },
  }
}

/** What a client would see: status, code, fields and headers; undefined when it went well. */
async function refusal(work: Promise<unknown>) {
  try {
    await work
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, code, fields, headers, message } = error
    return { status, code, fields, headers, message }
  }
}

t.test('the month is full: 402 with exactly limit, used and plan', async (t) => {
  const account = await open(t, { plan: 'Growth' })
  await account.used(199_999, 4_000)
  t.match(await refusal(account.send(2)), {
    status: 402,
    code: 'monthly_quota_exceeded',
    message: /^199999 of the 200000 mails of this month are used/,
  })
  t.equal(await refusal(account.send(1)), undefined)
  const full = await refusal(account.send(1))
  t.same(full?.fields, { limit: 200_000, used: 200_000, plan: 'Growth' })
  t.same(full?.headers, {})
  t.same(
    await account.usage(),
    { monthMails: 200_000, dayMails: 4_001, monthCampaignMails: 0 },
    'what was refused is not counted',
  )
})

t.test('of what is counted together each is refused as if it had come alone', async (t) => {
  const account = await open(t, { plan: 'Starter' })
  await account.used(5_000, 1_660)
  const told = await account.together([2, 5, 0, 3, 1, 1])
  t.same(told, ['counted', 1_662, 'counted', 'counted', 'counted', 1_666])
  t.match(await account.usage(), { monthMails: 5_006, dayMails: 1_666 })
})

t.test('the day is full: 429 with the cap, what was sent, and until when', async (t) => {
  const account = await open(t, { plan: 'Starter', at: '2026-11-21T23:59:58.500Z' })
  await account.used(10_000, 1_660)
  t.equal(await refusal(account.send(6)), undefined)
  const full = await refusal(account.send(1))
  t.match(full, { status: 429, code: 'daily_quota_exceeded' })
  t.same(full?.fields, {
    dailyLimit: 1_666,
    dailySent: 1_666,
    resetsAt: '2026-11-22T00:00:00.000Z',
    plan: 'Starter',
  })
  t.same(full?.headers, { 'retry-after': '2' })
  await account.clock.advance(1_499)
  t.equal((await refusal(account.send(1)))?.headers['retry-after'], '1')
  await account.clock.advance(1)
  t.equal(await refusal(account.send(1)), undefined, 'at midnight UTC it begins anew')
  t.same(await account.usage(), { monthMails: 10_007, dayMails: 1, monthCampaignMails: 0 })
})

t.test('a batch is counted whole or not at all, and told how much could go', async (t) => {
  const account = await open(t)
  await account.used(2_950, 40)
  const monthly = await refusal(account.batch(51))
  t.match(monthly, { status: 402, code: 'monthly_quota_exceeded' })
  t.same(monthly?.fields, { canSend: 50 })
  t.equal(await refusal(account.batch(50)), undefined)
  t.same((await refusal(account.batch(1)))?.fields, { canSend: 0 })

  const other = await open(t)
  await other.used(1_000, 40)
  const daily = await refusal(other.batch(61))
  t.match(daily, { status: 429, code: 'daily_quota_exceeded', headers: { 'retry-after': '43200' } })
  t.same(daily?.fields, { canSend: 60 })
  t.same(await other.usage(), { monthMails: 1_000, dayMails: 40, monthCampaignMails: 0 })
  t.equal(await refusal(other.batch(60)), undefined)

  const both = await open(t)
  await both.used(2_980, 90)
  t.match(await refusal(both.batch(30)), { status: 402, fields: { canSend: 10 } }, 'monthly first')
  t.match(await refusal(both.batch(15)), { status: 429, fields: { canSend: 10 } })
})

t.test('of 100 sends at once with 10 left exactly 10 are counted', async (t) => {
  for (const [month, day, code] of [
    [2_990, 50, 'monthly_quota_exceeded'],
    [100, 90, 'daily_quota_exceeded'],
  ] as const) {
    const account = await open(t)
    await account.used(month, day)
    const answers = await Promise.all(Array.from({ length: 100 }, () => refusal(account.send())))
    t.equal(answers.filter((answer) => answer === undefined).length, 10)
    t.equal(answers.filter((answer) => answer?.code === code).length, 90)
    t.match(await account.usage(), { monthMails: month + 10, dayMails: day + 10 })
  }
})

t.test('an unlimited plan is never full; a plan without a daily cap has no day', async (t) => {
  const account = await open(t, { plan: 'Unlimited' })
  await account.used(5_000_000, 5_000_000)
  t.equal(await refusal(account.send(50)), undefined)
  t.equal(await refusal(account.batch(5_000)), undefined)
  t.match(await account.usage(), { monthMails: 5_005_050 }, 'but it is counted')
  const growth = await open(t, { plan: 'Growth' })
  t.equal(await refusal(growth.batch(200_000)), undefined)
})

t.test('nothing to count costs nothing, even when nothing is left', async (t) => {
  const account = await open(t)
  await account.used(3_000, 100)
  t.equal(await refusal(account.send(0)), undefined)
  t.equal(await refusal(account.campaign(0)), undefined)
  await account.giveBack(0, account.clock.now())
  t.match(await account.usage(), { monthMails: 3_000, dayMails: 100 })
})

t.test('who came from a larger plan may send nothing, not less than nothing', async (t) => {
  const account = await open(t, { plan: 'Scale' })
  await account.used(500_000, 20_000)
  await account.change((tx) => setPlan(tx, account.id, findPlan(plans.email, 'Free')))
  t.same((await refusal(account.batch(1)))?.fields, { canSend: 0 })
  t.same((await refusal(account.send()))?.fields, { limit: 3_000, used: 500_000, plan: 'Free' })
})

t.test('a cancelled mail gives back to the periods in which it was accepted', async (t) => {
  const account = await open(t, { at: '2026-11-30T23:00:00.000Z' })
  const acceptedAt = account.clock.now()
  await account.send(30)
  await account.clock.advance(2 * 3_600_000)
  await account.send(5)
  await account.giveBack(20, acceptedAt)
  t.match(await account.usage(), { monthMails: 5, dayMails: 5 }, 'December is as it was')
  t.match(await readUsage(account.store.read, account.id, acceptedAt), {
    monthMails: 10,
    dayMails: 10,
  })
  await account.giveBack(5, account.clock.now())
  t.match(await account.usage(), { monthMails: 0, dayMails: 0 })
})

t.test('campaign mails have a cap of their own on the free marketing plan', async (t) => {
  const account = await open(t)
  await account.change((tx) =>
    setMarketingPlan(tx, account.id, findPlan(plans.marketing, 'Marketing Free')),
  )
  await account.campaign(1_990)
  t.equal(await refusal(account.send(50)), undefined, 'apart from the other mails')
  const full = await refusal(account.campaign(11))
  t.match(full, { status: 402, code: 'plan_limit_exceeded' })
  t.same(full?.fields, { limit: 2_000, used: 1_990, plan: 'Marketing Free' })
  t.equal(await refusal(account.campaign(10)), undefined)
  t.same(await account.usage(), { monthMails: 50, dayMails: 50, monthCampaignMails: 2_000 })
  await account.change((tx) =>
    setMarketingPlan(tx, account.id, findPlan(plans.marketing, 'Marketing Pro')),
  )
  t.equal(await refusal(account.campaign(1_000_000)), undefined, 'paid plans are not metered')
  await account.change((tx) => setMarketingPlan(tx, account.id, null))
  t.match(await refusal(account.campaign(1)), { status: 402, fields: { limit: 0 } })
})

t.test('the periods turn at UTC midnight, over leap days and year ends', async (t) => {
  let seed = 4711
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((seed / 0x80000000) * below)
  }
  const met = new Set<string>()
  for (const at of [
    '2024-02-28T21:00:00.000Z', // 2024 has a 29th of February
    '2023-02-28T21:00:00.000Z',
    '2100-02-28T21:00:00.000Z', // 2100 has none
    '2026-12-31T21:00:00.000Z',
    '2026-03-29T00:30:00.000Z', // when Europe's clocks change
  ]) {
    const account = await open(t, { at, monthlyLimit: 300 })
    const sums = new Map<string, number>()
    const accepted: { at: number; mails: number }[] = []
    for (let step = 0; step < 60; step++) {
      const now = account.clock.now()
      // Another way to the names than the code's.
      const date = new Date(now)
      const month = `${date.getUTCFullYear()}/${date.getUTCMonth()}`
      const day = `${month}/${date.getUTCDate()}`
      const mails = 1 + random(40)
      const [inMonth, inDay] = [sums.get(month) ?? 0, sums.get(day) ?? 0]
      const answer = await refusal(account.send(mails))
      met.add(answer?.code ?? 'counted')
      if (inMonth + mails > 300) t.equal(answer?.code, 'monthly_quota_exceeded')
      else if (inDay + mails > 100) t.match(answer?.fields, { dailySent: inDay, dailyLimit: 100 })
      else {
        if (answer !== undefined) t.fail(`refused at ${date.toISOString()}`, answer)
        sums.set(month, inMonth + mails)
        sums.set(day, inDay + mails)
        accepted.push({ at: now, mails })
      }
      if (random(5) === 0) {
        const [taken] = accepted.splice(random(accepted.length), 1)
        if (taken !== undefined) {
          const then = new Date(taken.at)
          const month = `${then.getUTCFullYear()}/${then.getUTCMonth()}`
          for (const period of [month, `${month}/${then.getUTCDate()}`]) {
            sums.set(period, (sums.get(period) ?? 0) - taken.mails)
          }
          await account.giveBack(taken.mails, taken.at)
        }
      }
      const usage = await account.usage()
      t.same(
        [usage.monthMails, usage.dayMails],
        [sums.get(month) ?? 0, sums.get(day) ?? 0],
        `after ${step} steps from ${at}`,
      )
      await account.clock.advance(random(5 * 3_600_000))
    }
  }
  t.same([...met].sort(), ['counted', 'daily_quota_exceeded', 'monthly_quota_exceeded'])
})

t.test('what stops an account, and with which answer', async (t) => {
  const account = await open(t)
  const sending = async (type: 'transactional' | 'marketing') => {
    const billing = await account.billing()
    return refusal((async () => checkSending(billing, type))())
  }
  const adding = async () => {
    const billing = await account.billing()
    return refusal((async () => checkAdding(billing))())
  }
  const set = (values: Partial<SubscriptionRow>) =>
    account.change((tx) => tx.updateTable('subscriptions').set(values).execute())

  t.equal(await sending('transactional'), undefined)
  t.equal(await adding(), undefined)
  const unpaid = await sending('marketing')
  t.match(unpaid, { status: 402, code: 'marketing_subscription_required' })
  t.same(unpaid?.fields, { upgrade: 'marketing' })

  await account.change((tx) =>
    setMarketingPlan(tx, account.id, findPlan(plans.marketing, 'marketing plus')),
  )
  t.equal(await sending('marketing'), undefined)
  await set({ marketing_paused: 'complaint' })
  t.match(await sending('marketing'), { status: 403, code: 'account_paused' })
  t.equal(await sending('transactional'), undefined)
  for (const reason of ['bounce', 'complaint'] as const) {
    await set({ paused: reason })
    for (const type of ['transactional', 'marketing'] as const) {
      const paused = await sending(type)
      t.match(paused, { status: 503, code: 'account_paused' })
      t.same(paused?.fields, { reason })
    }
  }
  t.equal(await adding(), undefined)
  await set({ paused: null, marketing_paused: null })

  await account.change((tx) => setBillingState(tx, account.id, 'past_due'))
  t.equal(await sending('marketing'), undefined, 'sending goes on')
  t.match(await adding(), { status: 403, code: 'subscription_past_due' })
  await account.change((tx) => setBillingState(tx, account.id, 'expired'))
  t.match(await sending('transactional'), { status: 403, code: 'subscription_expired' })
  t.match(await adding(), { status: 403, code: 'subscription_expired' })
  await account.change((tx) => suspend(tx, account.id, ' spam, see ticket 7 '))
  t.equal((await account.billing()).suspended, 'spam, see ticket 7')
  const suspended = await sending('transactional')
  t.match(suspended, { status: 403, code: 'account_suspended' })
  t.notMatch(suspended?.message, /spam/, 'the note is for operators')
  t.match(await adding(), { status: 403, code: 'account_suspended' })
  await account.change((tx) => unsuspend(tx, account.id))
  await account.change((tx) => setBillingState(tx, account.id, 'active'))
  t.equal(await sending('transactional'), undefined)
  for (const reason of ['', ' ', 'a\nb', 'x'.repeat(501)]) {
    await t.rejects(
      account.change((tx) => suspend(tx, account.id, reason)),
      OperatorError,
    )
  }
})

t.test(
  'the first account has the plan for hosts, later ones and rowless ones the other',
  async (t) => {
    const store = await openTestStore(t)
    const planOf = async (id: string) => (await readBilling(store.read, plans, id)).plan.name
    for (const id of ['z', 'a']) {
      await store.write(async (tx) => {
        await tx.insertInto('accounts').values({ id, name: id, created_at: 0 }).execute()
        await openSubscription(tx, id)
      })
    }
    await store.write((tx) =>
      tx.insertInto('accounts').values({ id: 'b', name: 'b', created_at: 0 }).execute(),
    )
    t.equal(await planOf('z'), 'Unlimited')
    t.equal(await planOf('a'), 'Free')
    t.equal(await planOf('b'), 'Free')
    await store.write((tx) => setPlan(tx, 'b', findPlan(plans.email, 'Growth')))
    t.equal(await planOf('b'), 'Growth')
    t.equal(await planOf('a'), 'Free')
  },
)

t.test('a plan that an account has cannot be left out of plans.toml', async (t) => {
  const account = await open(t, { plan: 'Growth' })
  await refuseUnknownPlans(account.store.read, plans)
  const fewer = { ...plans, email: plans.email.filter(({ name }) => name !== 'Growth') }
  const { id } = findPlan(plans.email, 'Growth')
  await t.rejects(refuseUnknownPlans(account.store.read, fewer), {
    name: 'OperatorError',
    message: new RegExp(`account a: ${id}$`),
  })
})

t.test('a plan that was not read has the caps of no plan, and loses nothing', async (t) => {
  const account = await open(t, { plan: 'Growth' })
  const [small, large] = plans.marketing
  const given = await account.store.write((tx) => setMarketingPlan(tx, 'a', large ?? null))
  t.equal(given, undefined)
  const { otherAccounts: free } = plans
  const fewer = { ...plans, email: [free], marketing: small ? [small] : [] }
  const { plan, marketingPlan } = await readBilling(account.store.read, fewer, 'a')
  t.match(plan, {
    id: findPlan(plans.email, 'Growth').id,
    monthlyLimit: free.monthlyLimit,
    dailyLimit: free.dailyLimit,
    retentionDays: 36_500,
    webhooks: true,
    name: /^Unknown/,
  })
  t.match(marketingPlan, { id: large?.id, contacts: small?.contacts, name: /^Unknown/ })
})
