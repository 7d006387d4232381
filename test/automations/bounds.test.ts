// What may happen so many times an hour does so in no 60 minutes more often.
import t from 'tap'
import { planDue } from '../../src/automations/engine/plan.js'
import { takePlans } from '../../src/automations/engine/take.js'
import { runAutomations } from '../../src/automations/index.js'
import { simulate } from '../../src/automations/trial/simulate.js'
import { setPlan } from '../../src/billing/index.js'
import { delay, hourMs, minuteMs, openEngine, send, trigger } from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'

t.test('no 60 minutes see more mails than maxPerHour, wherever they begin', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('mail')], { settings: { maxPerHour: 4 } })
  const made: number[] = []
  // Few at first, so that an hour that begins with them would have room for twice as many near its end.
  for (let minute = 0; minute < 240; minute += 7) {
    if (minute === 0 || minute > 40) {
      await rig.event({ email: `a${minute}@example.com` })
      await rig.event({ email: `b${minute}@example.com` })
    }
    const before = (await rig.mails()).length
    await rig.work()
    const now = (await rig.mails()).length
    for (let n = before; n < now; n += 1) made.push(rig.clock.now())
    await rig.clock.advance(7 * minuteMs)
  }
  const most = Math.max(
    ...made.map((from) => made.filter((at) => at >= from && at < from + hourMs).length),
  )
  t.equal(most, 4)
  t.ok(made.length >= 14, `${made.length} mails`)
  const rows = await rig.store.read.selectFrom('automation_hours').selectAll().execute()
  t.ok(rows.length <= 61, 'what is over is forgotten')
})

t.test('maxPerHour holds when the clock is set back, which stops nothing for long', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('mail')], { settings: { maxPerHour: 2 } })
  for (let n = 0; n < 7; n += 1) await rig.event({ email: `p${n}@example.com` })
  const mails = async () => (await rig.mails()).length
  await rig.work()
  t.equal(await mails(), 2)
  rig.clock.setBack(40 * minuteMs)
  // A run of its own, as those that wait know when they are due.
  await rig.event({ email: 'new@example.com' })
  await rig.work()
  t.equal(await mails(), 2, 'they were made a moment ago')
  for (let minute = 0; minute < 100; minute += 10) await rig.pass(10 * minuteMs)
  t.equal(await mails(), 4)
  rig.clock.setBack(300 * minuteMs)
  await rig.event({ email: 'newer@example.com' })
  await rig.work()
  t.equal(await mails(), 5, 'a clock that was far ahead stops nothing until then')
})

t.test('each version keeps to its own maxPerHour, also where one batch has several', async (t) => {
  const steps = [trigger(), delay('pause', 'PT1H'), send('mail')]
  const rig = await openEngine(t)
  const id = await rig.enabled(steps, { settings: { maxPerHour: 1 } })
  for (let n = 0; n < 3; n += 1) await rig.event({ email: `old${n}@example.com` })
  await rig.work()
  await rig.revise(id, steps, { settings: { maxPerHour: 3 } })
  for (let n = 0; n < 5; n += 1) await rig.event({ email: `new${n}@example.com` })
  await rig.work()
  await rig.pass(hourMs)
  t.equal((await rig.mails()).length, 3, 'the new limit, of which old runs take what theirs allows')
})

t.test('two engines that have planned at once keep maxPerHour between them', async (t) => {
  const rig = await openEngine(t)
  const { deps, accountId, clock, store } = rig
  await rig.enabled([trigger(), send('mail')], { settings: { maxPerHour: 2 } })
  for (let n = 0; n < 4; n += 1) await rig.event({ email: `p${n}@example.com` })
  const now = clock.now()
  const batch = await planDue(deps, accountId, { now, limit: 200 })
  if (batch === undefined) throw new Error('Nothing is due')
  await rig.work()
  t.equal((await rig.mails()).length, 2)
  // As an engine would that had read other runs: what the first has taken is not in its way.
  const left = batch.plans.filter((plan) => plan.kind === 'go').slice(0, 2)
  await store.write((tx) => tx.updateTable('automation_live').set({ seq: 0 }).execute())
  const live = await store.read.selectFrom('automation_live').select('id').execute()
  for (const [place, { id }] of live.entries()) {
    const plan = left[place]
    if (plan !== undefined) plan.run.row.id = id
  }
  await takePlans({ ...deps, ids: store.ids }, { ...batch, plans: left }, now)
  t.equal((await rig.mails()).length, 2)
})

t.test(
  'a contact starts 20 times in no 60 minutes, in the engine as in the simulator',
  async (t) => {
    const rig = await openEngine(t)
    const id = await rig.enabled([trigger(), { key: 'end', type: 'exit' }])
    const begin = rig.clock.now()
    // It begins half an hour before a full hour.
    const at = (Math.floor(begin / hourMs) + 1) * hourMs + 30 * minuteMs
    await rig.clock.advance(at - begin)
    const starts: number[] = []
    for (let minute = 0; minute < 100; minute += 2) {
      const { started } = await rig.event()
      if (started === 1) starts.push(rig.clock.now())
      await rig.work()
      await rig.clock.advance(2 * minuteMs)
    }
    const most = Math.max(
      ...starts.map((from) => starts.filter((at) => at >= from && at < from + hourMs).length),
    )
    t.equal(most, 20)
    const contact = {
      id: 'c',
      email: 'c@example.com',
      firstName: null,
      lastName: null,
      phone: null,
    }
    const { compiled } = await rig.memory.versions(rig.store.read, id, 1)
    const told = simulate(compiled, {
      contact: { ...contact, metadata: {}, createdAt: 0 },
      happenings: Array.from({ length: 50 }, (_, n) => {
        const name = 'signup'
        return { at: at + 2 * n * minuteMs, kind: 'event' as const, name, payload: {} }
      }),
      until: at + 10 * hourMs,
    })
    t.same(
      told.runs.map(({ startedAt }) => startedAt),
      starts,
    )
  },
)

t.test('a mail that does not render uses up no quota', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const free = plans.email.find(({ name }) => name === 'Free')
  if (free === undefined) throw new Error('No plan Free')
  await store.write((tx) => setPlan(tx, accountId, { ...free }))
  const daily = free.dailyLimit ?? 0
  await rig.saveTemplate('engine', { html: '<p>{{ trigger.name | upcase }}</p>' })
  const transactional = { type: 'transactional' }
  await rig.enabled([trigger(), send('mail', { template: 'engine', ...transactional })])
  // Each is walked again when its mail has turned out not to render.
  for (let n = 0; n < 10; n += 1) await rig.event({ email: `bad${n}@example.com` })
  for (let n = 0; n < daily; n += 1) {
    await rig.event({ email: `good${n}@example.com`, payload: { name: 'Ann' } })
  }
  const batch = await planDue(rig.deps, accountId, { now: rig.clock.now(), limit: 1_000 })
  const ends = (batch?.plans ?? []).flatMap((plan) =>
    plan.kind === 'go' && plan.walked.next.kind === 'blocked' ? [plan.walked.next.reason] : [],
  )
  t.same(ends, [])
})

t.test('a cap that was reached meanwhile makes its account wait, and no other', async (t) => {
  const rig = await openEngine(t)
  const { createAccount } = await import('../../src/accounts/index.js')
  const { store, clock } = rig
  const { id: accountId } = await createAccount({ store, clock }, 'Other')
  const other = await openEngine(t, { store, clock, accountId })
  const { ApiError } = await import('../../src/errors/index.js')
  await rig.enabled([trigger(), delay('pause', 'P1D')])
  await other.enabled([trigger(), delay('pause', 'P1D')])
  await rig.start()
  const run = await other.start()
  let refused = 0
  const write: typeof store.write = async (work) => {
    // The first account's write comes first: its run has been due for longer.
    if (refused === 0) {
      refused += 1
      throw new ApiError('daily_quota_exceeded', 'The cap is reached')
    }
    return await store.write(work)
  }
  const stop = new AbortController()
  // The clock stands still: an engine that paused would never come to the other.
  await runAutomations({ ...rig.deps, store: { ...store, write } }, stop.signal, async () => {
    stop.abort()
  })
  t.equal(refused, 1)
  t.match(await other.run(run), { currentStep: 'pause', status: 'waiting' })
})
