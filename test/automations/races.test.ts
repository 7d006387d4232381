import t from 'tap'
import { acceptEvents, runAutomations, runSome } from '../../src/automations/index.js'
import { dayMs, delay, hourMs, openEngine, send, trigger, wait } from '../support/automation-rig.js'

t.test('an event that comes at any point while its run is being parked is heard', async (t) => {
  const rig = await openEngine(t)
  const { store } = rig
  const { versions, templates } = rig.memory
  await rig.enabled([trigger(), wait('paid', 'paid'), send('thanks')])
  // At how many points of the planner the event waits; behind all of them it finds a parked run.
  for (let after = 0; after < 6; after++) {
    const email = `p${after}@example.com`
    const run = await rig.start({ email })
    let points = 0
    let came: Promise<unknown> | undefined
    const comesNow = () => {
      if (points++ === after) came = rig.event({ event: 'paid', email })
      return came
    }
    await rig.work({
      versions: async (...args) => {
        await comesNow()
        return await versions(...args)
      },
      templates: async (...args) => {
        await comesNow()
        return await templates(...args)
      },
      store: {
        ...store,
        write: async (work) => {
          await comesNow()
          return await store.write(work)
        },
      },
    })
    if (came === undefined) await rig.event({ event: 'paid', email })
    await rig.work()
    t.equal(await rig.story(run), 'start started, paid received, thanks sent', `after ${after}`)
    t.equal((await rig.mails()).length, after + 1)
  }
})

t.test('two engines at once take each step once', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([
    trigger(),
    send('one'),
    send('two'),
    delay('pause', 'P1D'),
    send('three'),
  ])
  for (let n = 0; n < 60; n++) await rig.event({ email: `p${n}@example.com` })
  const both = () => Promise.all([rig.work(), rig.work(), rig.work()])
  await both()
  t.equal((await rig.mails()).length, 120)
  await rig.clock.advance(dayMs)
  await both()
  t.equal((await rig.mails()).length, 180)
  t.match(await rig.automation(id), { completed: 60, running: 0, waiting: 0 })
  await rig.counted(id)
})

t.test('a hundred events at once for one new address make one contact and one run', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), delay('pause', 'P1D')])
  const all = await Promise.all(Array.from({ length: 100 }, () => rig.event()))
  t.equal(all.filter(({ contactCreated }) => contactCreated).length, 1)
  t.equal(all.filter(({ started }) => started === 1).length, 1)
  const runs = new Set(all.map(({ automations }) => automations[0]?.runId))
  t.equal(runs.size, 1)
  const refused = all.filter(({ automations }) => automations[0]?.reason === 'already_running')
  t.equal(refused.length, 99)
})

t.test(
  'an event beats the timeout that is executed after it, and no branch is taken twice',
  async (t) => {
    const rig = await openEngine(t)
    await rig.enabled(
      [trigger(), wait('paid', 'paid', { timeout: 'P1D' }), send('yes'), send('no')],
      {
        connections: [
          { from: 'start', to: 'paid', type: 'default' },
          { from: 'paid', to: 'yes', type: 'event_received' },
          { from: 'paid', to: 'no', type: 'timeout' },
        ],
      },
    )
    const run = await rig.start()
    await rig.work()
    // The appliance has slept past the time.
    await rig.clock.advance(2 * dayMs)
    await Promise.all([rig.event({ event: 'paid' }), rig.work()])
    await rig.work()
    const story = await rig.story(run)
    t.match(story, /^start started, paid (received, yes|timed_out, no) sent$/)
    const late = await rig.start()
    await rig.work()
    await rig.clock.advance(2 * dayMs)
    await rig.event({ event: 'paid' })
    await rig.work()
    t.equal(await rig.story(late), 'start started, paid received, yes sent')
  },
)

t.test('a clock that is set back makes no step early and none twice', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), delay('pause', 'PT2H'), send('mail')])
  const run = await rig.start()
  await rig.work()
  rig.clock.setBack(hourMs)
  await rig.pass(2 * hourMs)
  t.equal(await rig.story(run), 'start started')
  await rig.pass(hourMs)
  t.equal(await rig.story(run), 'start started, pause waited, mail sent')
})

t.test('accounts take turns, and a run is of its own account', async (t) => {
  const rig = await openEngine(t)
  const { createAccount } = await import('../../src/accounts/index.js')
  const { readBilling } = await import('../../src/billing/index.js')
  const { plans } = await import('../support/campaigns.js')
  await rig.enabled([trigger(), delay('pause', 'P1D')])
  for (let n = 0; n < 450; n++) await rig.event({ email: `p${n}@example.com` })
  const other = await createAccount(rig, 'Other')
  const billing = await readBilling(rig.store.read, plans, other.id)
  const { createAutomation, enableAutomation } = await import('../../src/automations/index.js')
  const made = await createAutomation(rig.deps, billing, {
    name: 'Theirs',
    steps: [trigger(), delay('pause', 'P1D')],
    connections: [{ from: 'start', to: 'pause', type: 'default' }],
  })
  await enableAutomation(rig.deps, billing, made.id)
  await acceptEvents(rig.accepting, billing, [{ event: 'signup', email: 'ann@example.com' }])
  const order: string[] = []
  await runAutomations(
    {
      ...rig.deps,
      plans: rig.deps.plans,
      store: {
        ...rig.store,
        write: async (work) => {
          const rows = await rig.store.read
            .selectFrom('automation_live')
            .select(['account_id'])
            .where('due_at', '<=', rig.clock.now())
            .execute()
          order.push(String(new Set(rows.map((row) => row.account_id)).size))
          return await rig.store.write(work)
        },
      },
    },
    AbortSignal.timeout(5_000),
    async () => {
      throw new Error('done')
    },
  ).catch(() => {})
  // Batches of 200, 200 and 50 are written in parts of 20. Whose turn is first the database says.
  t.equal(order.length, 10 + 1 + 10 + 3)
  t.ok(order.indexOf('1') <= 10 + 1, 'the small one comes after one batch of the large one at most')
  t.equal(await runSome(rig.deps, other.id), false)
})
