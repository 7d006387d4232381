import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { planDue } from '../../src/automations/engine/plan.js'
import { takePlans } from '../../src/automations/engine/take.js'
import {
  noteAllBlocked,
  pauseAutomation,
  resumeAutomation,
  wakeBlocked,
} from '../../src/automations/index.js'
import {
  changedAccounts,
  clearPauses,
  countMails,
  pauseMarketing,
  pauseSending,
  readBilling,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { verifyDomain } from '../../src/domains/index.js'
import type { Tx } from '../../src/store/index.js'
import { hourMs, minuteMs, openEngine, passing, send, trigger } from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'
import { fakeResolver } from '../support/resolver.js'

type Rig = Awaited<ReturnType<typeof openEngine>>

/** What housekeeping does every two seconds; resolves with how often the engine was called. */
async function wake({ store, clock }: Rig): Promise<number> {
  let calls = 0
  const deps = { store, clock, automate: () => (calls += 1) }
  await passing(clock, wakeBlocked(deps, new AbortController().signal))
  return calls
}

const planNamed = (name: string) => {
  const plan = plans.email.find((one) => one.name === name)
  if (plan === undefined) throw new Error(`No plan ${name}`)
  return plan
}
const pro = plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null

const states: Record<
  string,
  { stop: (tx: Tx, id: string) => Promise<void>; go: typeof clearPauses }
> = {
  paused: { stop: (tx, id) => pauseSending(tx, id, 'bounce'), go: clearPauses },
  'paused for marketing': {
    stop: (tx, id) => pauseMarketing(tx, id, 'complaint'),
    go: clearPauses,
  },
  suspended: { stop: (tx, id) => suspend(tx, id, 'spam'), go: unsuspend },
  'without a marketing plan': {
    stop: (tx, id) => setMarketingPlan(tx, id, null),
    go: (tx, id) => setMarketingPlan(tx, id, pro),
  },
  expired: {
    stop: (tx, id) => setBillingState(tx, id, 'expired'),
    go: (tx, id) => setBillingState(tx, id, 'active'),
  },
}
for (const [name, { stop, go }] of Object.entries(states)) {
  t.test(`runs of an account that was ${name} go on as soon as it is not`, async (t) => {
    const rig = await openEngine(t)
    const { store, accountId } = rig
    await rig.enabled([trigger(), send('mail')])
    const run = await rig.start()
    await store.write((tx) => stop(tx, accountId))
    await rig.work()
    t.equal((await rig.mails()).length, 0)
    t.equal(await wake(rig), 1, 'it may have been another change that helps: looked at once')
    await rig.work()
    t.equal(await wake(rig), 0, 'and no more, while the account stays as it is')
    t.equal((await rig.mails()).length, 0)

    await store.write((tx) => go(tx, accountId))
    t.equal(await wake(rig), 1)
    await rig.work()
    t.match(await rig.story(run), /mail sent$/)
    t.same(await changedAccounts(store.read, {}), [])
  })
}

t.test('runs that a used up quota has stopped go on with a larger plan', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, clock } = rig
  await rig.enabled([trigger(), send('mail', { type: 'transactional' })])
  await store.write((tx) => setPlan(tx, accountId, planNamed('Free')))
  await wake(rig)
  const billing = await rig.billing()
  await store.write((tx) => countMails(tx, billing, 100, clock.now()))
  const run = await rig.start()
  await rig.work()
  t.match(await rig.run(run), { waitingFor: { kind: 'quota', until: clock.now() + hourMs } })
  t.equal(await wake(rig), 0)
  await store.write((tx) => setPlan(tx, accountId, planNamed('Growth')))
  await wake(rig)
  await rig.work()
  t.match(await rig.story(run), /mail sent$/)
})

t.test('plans that are larger since the start let runs go on', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, clock } = rig
  await rig.enabled([trigger(), send('mail', { type: 'transactional' })])
  await store.write((tx) => setPlan(tx, accountId, planNamed('Free')))
  const billing = await rig.billing()
  await store.write((tx) => countMails(tx, billing, 100, clock.now()))
  const run = await rig.start()
  await rig.work()
  await wake(rig)
  await rig.work()

  const larger = { ...plans, email: plans.email.map((plan) => ({ ...plan, dailyLimit: 1_000 })) }
  await store.write(noteAllBlocked)
  t.equal(await wake(rig), 1)
  await rig.work({ plans: larger })
  t.match(await rig.story(run), /mail sent$/)
})

t.test('runs whose sender was not verified go on when it is', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  await rig.enabled([trigger(), send('mail')])
  await store.write((tx) =>
    tx.updateTable('domains').set({ status: 'pending', trusted: 0 }).execute(),
  )
  const run = await rig.start()
  await rig.work()
  t.match(await rig.run(run), { waitingFor: { kind: 'domain' } })
  await wake(rig)
  await rig.work()
  const settings = { heloName: 'mail.test', sourceAddresses: ['192.0.2.1'] }
  await verifyDomain({ ...rig, resolver: fakeResolver(), settings }, accountId, 'sender.test', {
    trust: true,
  })
  await wake(rig)
  await rig.work()
  t.match(await rig.story(run), /mail sent$/)
})

t.test('a change that comes while the engine is about to block a run is not missed', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, deps, clock } = rig
  await rig.enabled([trigger(), send('mail')])
  for (const [stop, go] of [
    [states.paused?.stop, clearPauses],
    [states.suspended?.stop, unsuspend],
  ] as const) {
    if (stop === undefined) throw new Error('No such state')
    const run = await rig.start({ email: `${go.name}@example.com` })
    await store.write((tx) => stop(tx, accountId))
    const batch = await planDue(deps, accountId, { now: clock.now(), limit: 200 })
    if (batch === undefined) throw new Error('Nothing is due')
    await store.write((tx) => go(tx, accountId))
    await wake(rig)
    const { moved } = await takePlans({ ...deps, ids: store.ids }, batch, clock.now())
    t.equal(moved, 0, 'it is planned anew')
    await rig.work()
    t.match(await rig.story(run), /mail sent$/)
  }
})

t.test('what has a time of its own, or is held, is left as it is', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, clock } = rig
  const capped = await rig.enabled([trigger(), send('mail')], { settings: { maxPerHour: 1 } })
  const first = await rig.start()
  const second = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  t.match(await rig.run(first), { status: 'completed' })
  const { waitingFor } = await rig.run(second)
  t.match(waitingFor, { kind: 'cap' })

  const other = await rig.enabled([trigger('other'), send('mail')], {}, 'Other')
  await store.write((tx) => pauseSending(tx, accountId, 'bounce'))
  const blocked = await rig.start({ event: 'other' })
  await rig.work()
  await pauseAutomation(rig, await rig.automation(other))
  await rig.pass(6 * minuteMs)
  t.match(await rig.run(blocked), { waitingFor: { kind: 'held' } })
  await store.write((tx) => clearPauses(tx, accountId))
  t.equal(await wake(rig), 0)
  t.same((await rig.run(second)).waitingFor, waitingFor)
  t.match(await rig.run(blocked), { waitingFor: { kind: 'held' } })
  await passing(clock, resumeAutomation(rig, await rig.automation(other), 'shift'))
  await rig.work()
  t.match(await rig.story(blocked), /mail sent$/)
  await rig.counted(capped)
  await rig.counted(other)
})

t.test('one account with many blocked runs keeps none of another waiting', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const small = await openEngine(t, {
    store,
    clock,
    accountId: (await createAccount({ store, clock }, 'Small')).id,
  })
  for (const one of [rig, small]) {
    await one.enabled([trigger(), send('mail')])
    await store.write((tx) => pauseSending(tx, one.accountId, 'bounce'))
  }
  for (let place = 0; place < 1_001; place += 1) await rig.start({ email: `c${place}@example.com` })
  const run = await small.start()
  await rig.work()
  for (const one of [rig, small]) await store.write((tx) => clearPauses(tx, one.accountId))

  const dueOf = async (id: string) =>
    (
      await store.read
        .selectFrom('automation_live')
        .select('id')
        .where('account_id', '=', id)
        .where('due_at', '<=', clock.now())
        .execute()
    ).length
  const stop = new AbortController()
  let calls = 0
  const stopAfterTwo = () => {
    calls += 1
    if (calls === 2) stop.abort()
  }
  await passing(clock, wakeBlocked({ store, clock, automate: stopAfterTwo }, stop.signal))
  t.equal(await dueOf(small.accountId), 1, 'in the first round')
  t.equal(await dueOf(accountId), 200, 'in slices')
  await small.work()
  t.match(await small.story(run), /mail sent$/)
  t.equal(await wake(rig), 5, 'what was broken off is finished, with what the others left')
  t.equal(await dueOf(accountId), 801)
  t.same(await changedAccounts(store.read, {}), [])
  t.equal((await readBilling(store.read, plans, accountId)).paused, null)
})
