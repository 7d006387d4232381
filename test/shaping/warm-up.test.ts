import t, { type Test } from 'tap'
import { threadsOf } from '../../src/nodes/index.js'
import {
  claimRation,
  forgetLearned,
  listSources,
  loadShaping,
  makeShaping,
  makeWarmUp,
  type RationRequest,
  rampDays,
  rampLimit,
  readLearned,
  readSource,
  saveLearned,
  today,
} from '../../src/outbound/shaping/index.js'
import { grant, type SourceState } from '../../src/outbound/shaping/ramp.js'
import { queueClass, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'
import { seeded } from './seeded.js'

const { transactional, campaign } = queueClass
const day = 86_400_000
const address = '192.0.2.7'

t.test('the ramp has the published days and never goes down', async (t) => {
  for (const [rampDay, limit] of [
    [1, 50],
    [2, 100],
    [3, 250],
    [4, 500],
    [5, 1_000],
    [6, 2_500],
    [7, 5_000],
    [10, 15_000],
    [16, 100_000],
  ] as const) {
    t.equal(rampLimit(rampDay), limit, `day ${rampDay}`)
  }
  for (let rampDay = 1; rampDay <= rampDays; rampDay++) {
    t.ok(rampLimit(rampDay + 1) > rampLimit(rampDay))
  }
  t.equal(rampLimit(rampDays + 1), Number.POSITIVE_INFINITY)
})

t.test('days with mail move the ramp on, 30 idle ones begin it again', async (t) => {
  const start = Date.parse('2026-11-21T23:59:00Z')
  const use = (state: SourceState | undefined, now: number) =>
    grant(state, { klass: transactional, share: 1, now }).state
  const first = use(undefined, start)
  t.match(first, { rampDay: 1, sent: 50, firstDay: Math.floor(start / day) })
  t.match(today(first, start + 120_000), { rampDay: 2, sent: 0 }, 'the day is that of UTC')
  t.match(today(first, start + 10 * day), { rampDay: 2 }, 'days without mail teach nobody')
  t.match(today(first, start + 30 * day), { rampDay: 2 })
  t.match(today(first, start + 31 * day), { rampDay: 1, sent: 0 }, 'more than 30 days')
  t.match(today(first, start - day), { rampDay: 1, sent: 50 }, 'a clock set back gives no more')
  let state = first
  for (let i = 1; i < 40; i++) state = use(state, start + i * day)
  t.equal(state.rampDay, rampDays + 1)
  t.match(grant(state, { klass: campaign, share: 0.05, now: start + 40 * day }), { granted: 1 })
})

t.test('the days that a clock was ahead are not waited for', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const claim = () =>
    store.write((tx) =>
      claimRation(tx, address, { klass: transactional, share: 1, now: clock.now() }),
    )
  clock.jump(60 * day)
  t.equal((await claim()).messages, 50)
  clock.setBack(60 * day)
  t.equal((await claim()).messages, 0, 'no second ration')
  await clock.advance(day)
  t.equal((await claim()).messages, 100)
})

t.test('a fifth of the day is for transactional mail alone', async (t) => {
  let state: SourceState | undefined
  const take = (klass: 0 | 2) => {
    const result = grant(state, { klass, share: 0.01, now: 0 })
    state = result.state
    return result.granted
  }
  let bulk = 0
  for (let granted = take(campaign); granted > 0; granted = take(campaign)) bulk += granted
  let rest = 0
  for (let granted = take(transactional); granted > 0; granted = take(transactional))
    rest += granted
  t.same([bulk, rest], [40, 10])
})

t.test('transactional mail passes the limit of the day, by the reserve and no more', async (t) => {
  const take = (klass: 0 | 2, state: SourceState | undefined) =>
    grant(state, { klass, share: 1, now: 0, reserve: 30 })
  let { state, granted } = take(transactional, take(campaign, undefined).state)
  t.same(
    [granted, state.sent],
    [40, 80],
    'after the 40 of a campaign all that is left, and 30 more',
  )
  t.equal(take(transactional, state).granted, 0)
  const day2 = take(transactional, { ...state, lastDay: -1 })
  ;({ state, granted } = take(campaign, day2.state))
  t.same([day2.granted, granted, state.rampDay], [100, 0, 2])
})

/** A thread's warm-up over a real table. */
function openWarmUp(t: Test, store: Awaited<ReturnType<typeof openTestStore>>, clock: FakeClock) {
  let asked = () => {}
  const warmUp = makeWarmUp({
    clock,
    threads: 2,
    claim: (request: RationRequest) => store.write((tx) => claimRation(tx, address, request)),
    onRation: () => asked(),
  })
  /** Takes one when there is one, waiting for the ration; else how long until there is. */
  const send = async (klass: 0 | 2): Promise<number> => {
    for (;;) {
      const rationed = new Promise<void>((resolve) => {
        asked = resolve
      })
      const wait = warmUp.wait(klass, clock.now())
      if (wait === 'asking') await rationed
      else {
        if (wait === 0) warmUp.take(klass)
        return wait
      }
    }
  }
  t.teardown(() => asked())
  return { warmUp, send }
}

t.test('threads share the day of an address exactly, over restarts too', async (t) => {
  const clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'))
  const store = await openTestStore(t, { clock })
  const random = seeded(3)
  const sentOn = async () => {
    const threads = [openWarmUp(t, store, clock), openWarmUp(t, store, clock)]
    let sent = 0
    let bulk = 0
    for (let dry = 0; dry < 20; ) {
      const thread = threads[random() < 0.5 ? 0 : 1]
      const klass = random() < 0.5 ? transactional : campaign
      const wait = (await thread?.send(klass)) ?? 0
      if (wait > 0) {
        const left = day - (clock.now() % day)
        if (wait !== left) t.fail(`waits ${wait}, not ${left}`)
        dry++
        continue
      }
      dry = 0
      sent++
      if (klass === campaign) bulk++
    }
    return { sent, bulk }
  }
  for (const limit of [50, 100, 250]) {
    const { sent, bulk } = await sentOn()
    t.ok(sent <= limit && sent > limit * 0.9, `${sent} of ${limit}`)
    t.ok(bulk <= limit * 0.8, `${bulk} of them bulk`)
    const again = await sentOn()
    t.ok(sent + again.sent <= limit, 'a restart gives no more')
    await clock.advance(day)
  }
  t.match(await listSources(store.read), [{ address, rampDay: 3 }])
})

t.test('what did not leave is given back, and a claim that fails is made again', async (t) => {
  const clock = new FakeClock()
  let fails = true
  let told = 0
  const warmUp = makeWarmUp({
    clock,
    threads: 1,
    claim: async () => {
      if (fails) throw new Error('busy')
      return { messages: 1, limited: true }
    },
    onRation: () => told++,
  })
  t.equal(warmUp.wait(campaign, clock.now()), 'asking')
  t.equal(warmUp.wait(campaign, clock.now()), 'asking', 'asked once')
  await clock.advance(0)
  t.equal(told, 0)
  fails = false
  await clock.advance(1_000)
  t.equal(told, 1)
  t.equal(warmUp.wait(campaign, clock.now()), 'asking')
  await clock.advance(0)
  t.equal(warmUp.wait(campaign, clock.now()), 0)
  const taken = warmUp.take(campaign)
  t.equal(warmUp.wait(campaign, clock.now()), 'asking')
  warmUp.giveBack(taken)
  t.equal(warmUp.wait(campaign, clock.now()), 0)
})

t.test('what is given back after midnight is none of the new day', async (t) => {
  const clock = new FakeClock(Date.parse('2026-11-21T23:59:00Z'))
  const warmUp = makeWarmUp({
    clock,
    threads: 1,
    claim: async () => ({ messages: 1, limited: true }),
    onRation() {},
  })
  const ration = async () => {
    t.equal(warmUp.wait(campaign, clock.now()), 'asking')
    await clock.advance(0)
    t.equal(warmUp.wait(campaign, clock.now()), 0)
    return warmUp.take(campaign)
  }
  const yesterdays = await ration()
  await clock.advance(120_000)
  await ration()
  warmUp.giveBack(yesterdays)
  t.equal(warmUp.wait(campaign, clock.now()), 'asking')
})

t.test('a warmed address is unlimited, and its days still count', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { send, warmUp } = openWarmUp(t, store, clock)
  for (let i = 0; i <= rampDays; i++) {
    await send(campaign)
    await clock.advance(day)
  }
  await send(campaign)
  for (let i = 0; i < 200_000; i++) {
    if (warmUp.wait(campaign, clock.now()) !== 0) t.fail('limited')
    warmUp.take(campaign)
  }
  const state = await readSource(store.read, address)
  t.match(state, { rampDay: rampDays + 1, lastDay: Math.floor(clock.now() / day) })
})

t.test('a site waits for the ration, then for the next day', async (t) => {
  const clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'))
  let left = 1
  const shaping = makeShaping({
    data: loadShaping(['config/shaping.toml']),
    clock,
    random: () => 0,
    thread: 0,
    threads: 1,
    warmUpOf: () =>
      makeWarmUp({
        clock,
        threads: 1,
        claim: async () => ({ messages: left--, limited: true }),
        onRation() {},
      }),
  })
  const name = shaping.siteOf([{ exchange: 'mx.a.example', preference: 1 }], 'a.example')
  const site = shaping.site(name, address)
  t.match(site.mayStart(campaign), { gate: 'warm-up', until: null })
  await clock.advance(0)
  t.equal(site.mayStart(campaign), undefined)
  const taken = site.started(campaign)
  site.ended(campaign, { kind: 'connect-failed', cause: 'refused' }, taken)
  await clock.advance(1_000)
  t.equal(site.mayStart(campaign), undefined, 'given back, as nothing left the address')
  site.started(campaign)
  site.ended(campaign, { kind: 'delivered' })
  t.match(site.mayStart(campaign), { gate: 'warm-up', until: null })
  await clock.advance(0)
  t.same(site.mayStart(campaign), {
    gate: 'warm-up',
    until: Date.parse('2026-11-22T00:00:00Z'),
    why: "today's ration of the address is used",
  })
})

t.test(
  'what is not over stays a row though nothing asks for it, and goes with its time',
  async (t) => {
    const clock = new FakeClock()
    const store = await openTestStore(t, { clock })
    const suspension = { until: clock.now() + 7_200_000, why: 'TSS04', by: 'reply' } as const
    const learned = { connections: 5, suspension, active: [] }
    await store.write((tx) =>
      saveLearned(
        tx,
        { changed: [{ site: 'yahoo', source: address, learned }], gone: [] },
        { thread: 3, now: clock.now() },
      ),
    )
    const start = async (thread: number) => {
      const started = await startShaping(store, clock, thread)
      await store.write((tx) =>
        forgetLearned(tx, { thread, threads: 2, of: threadsOf({ number: 1 }) }),
      )
      await started.save()
      return started
    }
    for (let restarts = 0; restarts < 2; restarts++) {
      await start(1)
      await start(0)
      t.match(await readLearned(store.read), [{ thread: 0, learned }], 'the first has it alone')
      t.equal((await readLearned(store.read)).length, 1)
    }
    const { shaping, save } = await start(0)
    await clock.advance(7_200_000)
    await save()
    t.same(await readLearned(store.read), [])
    const name = shaping.siteOf([{ exchange: 'a.yahoodns.net', preference: 1 }], 'yahoo.com')
    t.equal(shaping.site(name, address).learned().suspension?.why, 'TSS04', 'the first is a probe')
  },
)

t.test('what was learned outlives a restart, whichever thread learned it', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const start = async (thread: number) => {
    const { shaping, save } = await startShaping(store, clock, thread)
    const name = shaping.siteOf([{ exchange: 'a.yahoodns.net', preference: 1 }], 'yahoo.com')
    return { shaping, save, site: shaping.site(name, address) }
  }
  const { site, save, shaping } = await start(0)
  await save()
  t.same(await readLearned(store.read), [], 'as usual: no row')
  site.started(transactional)
  const reply = '421 4.7.0 [TSS05] Messages from 192.0.2.7 temporarily deferred'
  site.ended(transactional, { kind: 'deferred', reply })
  await save()
  const rows = await readLearned(store.read, 'yahoo')
  t.match(rows, [{ site: 'yahoo', source: address, thread: 0, learned: { connections: 5 } }])
  t.same(shaping.learnedChanges(), { changed: [], gone: [] }, 'only changes are told')

  const other = await start(1)
  await clock.advance(3_600_000)
  t.match(other.site.mayStart(transactional), { gate: 'suspended', why: /TSS05/ })
  await clock.advance(3 * 3_600_000)
  t.equal(other.site.mayStart(transactional), undefined)
  site.started(transactional)
  site.ended(transactional, { kind: 'delivered' })
  t.equal(site.learned().suspension, null)
  await clock.advance(600_000)
  shaping.sweep()
  await save()
  t.same(await readLearned(store.read), [], 'the row goes with the site')

  await other.save()
  t.equal((await readLearned(store.read)).length, 1)
  await store.write((tx) =>
    forgetLearned(tx, { thread: 0, threads: 1, of: threadsOf({ number: 1 }) }),
  )
  t.same(await readLearned(store.read), [], 'threads that are no more leave nothing')
})

/** One of two threads' shaping with what is stored. */
async function startShaping(store: Store, clock: FakeClock, thread: number) {
  const shaping = makeShaping({
    data: loadShaping(['config/shaping.toml']),
    clock,
    random: () => 0,
    thread,
    threads: 2,
    learned: await readLearned(store.read),
  })
  const save = () =>
    store.write((tx) => saveLearned(tx, shaping.learnedChanges(), { thread, now: clock.now() }))
  return { shaping, save }
}
