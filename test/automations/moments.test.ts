// automations.md §4, rows 3 and 4: an event that comes while the engine looks at its run.
import t from 'tap'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import { runSome } from '../../src/automations/engine/engine.js'
import { planDue } from '../../src/automations/engine/plan.js'
import { takePlans } from '../../src/automations/engine/take.js'
import { pauseAutomation, resumeAutomation } from '../../src/automations/index.js'
import { openTimeline } from '../support/automation-engine.js'
import { openEngine, passing, send, trigger } from '../support/automation-rig.js'
import { day, hour, startName } from '../support/automations.js'

const waiting: AutomationDefinition = {
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: startName } },
    { key: 'paid', type: 'wait_for_event', config: { eventName: 'order.paid', timeout: 'P1D' } },
    { key: 'thanks', type: 'contact_update', config: { metadata: { paid: true } } },
    { key: 'lost', type: 'contact_update', config: { metadata: { paid: false } } },
  ],
  connections: [
    { from: 'start', to: 'paid', type: 'default' },
    { from: 'paid', to: 'thanks', type: 'event_received' },
    { from: 'paid', to: 'lost', type: 'timeout' },
  ],
}
const paused: AutomationDefinition = {
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: startName } },
    { key: 'pause', type: 'delay', config: { duration: 'PT2H' } },
  ],
  connections: [{ from: 'start', to: 'pause', type: 'default' }],
}

/** Begins the second once so many promises have been settled, whatever the first awaits then. */
async function together<A, B>(
  first: () => Promise<A>,
  second: () => Promise<B>,
  after: number,
): Promise<{ first: A; second: B; wasInTime: boolean }> {
  let isOver = false
  const going = first().finally(() => {
    isOver = true
  })
  for (let tick = 0; tick < after && !isOver; tick += 1) {
    await undefined
    // What waits for a commit goes on in a later turn of the loop.
    if (tick % 16 === 15) await new Promise((resolve) => setImmediate(resolve))
  }
  const wasInTime = !isOver
  const [one, other] = await Promise.all([going, second()])
  return { first: one, second: other, wasInTime }
}

type Rig = Awaited<ReturnType<typeof openTimeline>>

/** Tries all moments, until the engine was ready before the event came. */
async function atEveryMoment(attempt: (moment: number) => Promise<boolean>) {
  let moments = 0
  while (await attempt(moments)) moments += 1
  return moments
}

async function results(rig: Rig, automationId: string, contactId: string) {
  const runs = await rig.runs(automationId)
  const run = runs.find((one) => one.contactId === contactId)
  return run?.history.map(({ step, result }) => `${step} ${result}`).slice(1) ?? []
}

t.test('an event that comes while its run is being parked is always heard', async (t) => {
  const rig = await openTimeline(t)
  const id = await rig.enable(waiting)
  const moments = await atEveryMoment(async (moment) => {
    const { id: contactId } = await rig.contact(`c${moment}@example.test`)
    await rig.accept({ contactId, event: startName })
    const { wasInTime } = await together(
      () => runSome(rig.deps, rig.accountId),
      () => rig.accept({ contactId, event: 'order.paid' }),
      moment,
    )
    await rig.settle()
    const told = await results(rig, id, contactId)
    t.same(told, ['paid received', 'thanks updated'], `after ${moment} promises`)
    return wasInTime
  })
  t.ok(moments > 10, `${moments} moments were tried`)
})

t.test(
  'an event and the timeout at the same ms: one branch, and the event’s if it was first',
  async (t) => {
    const rig = await openTimeline(t)
    const id = await rig.enable(waiting)
    const seen = { received: 0, timedOut: 0 }
    const moments = await atEveryMoment(async (moment) => {
      const { id: contactId } = await rig.contact(`c${moment}@example.test`)
      await rig.accept({ contactId, event: startName })
      await rig.settle()
      await rig.passUntil(rig.clock.now() + day)
      const { second, wasInTime } = await together(
        () => runSome(rig.deps, rig.accountId),
        () => rig.accept({ contactId, event: 'order.paid' }),
        moment,
      )
      await rig.settle()
      const told = await results(rig, id, contactId)
      const wasFirst = second[0]?.resumed === 1
      const expected = wasFirst
        ? ['paid received', 'thanks updated']
        : ['paid timed_out', 'lost updated']
      t.same(told, expected, `after ${moment} promises`)
      seen[wasFirst ? 'received' : 'timedOut'] += 1
      return wasInTime
    })
    t.ok(
      moments > 10 && seen.received > 0 && seen.timedOut > 0,
      JSON.stringify({ moments, ...seen }),
    )
  },
)

t.test('a second engine at every moment takes no step twice', async (t) => {
  const rig = await openTimeline(t)
  const id = await rig.enable(paused)
  const moments = await atEveryMoment(async (moment) => {
    const { id: contactId } = await rig.contact(`c${moment}@example.test`)
    await rig.accept({ contactId, event: startName })
    await rig.settle()
    await rig.passUntil(rig.clock.now() + 2 * hour)
    const { first, second, wasInTime } = await together(
      () => runSome(rig.deps, rig.accountId),
      () => runSome(rig.deps, rig.accountId),
      moment,
    )
    await rig.settle()
    t.same(await results(rig, id, contactId), ['pause waited'], `after ${moment} promises`)
    t.same([first, second].filter(Boolean), [true], 'one of them has moved it')
    return wasInTime
  })
  t.ok(moments > 10, `${moments} moments were tried`)
  const steps = await rig.store.read.selectFrom('automation_steps').selectAll().execute()
  const pause = steps.find(({ key }) => key === 'pause')
  t.match(pause, { entered: moments + 1, done: moments + 1 }, 'and none is counted twice')
})

t.test(
  'a clock that goes back lets no step come early, one that goes forward loses none',
  async (t) => {
    const rig = await openTimeline(t)
    const id = await rig.enable(paused)
    const begin = async (email: string) => {
      const { id: contactId } = await rig.contact(email)
      await rig.accept({ contactId, event: startName })
      await rig.settle()
      return contactId
    }
    const back = await begin('back@example.test')
    const dueAt = rig.clock.now() + 2 * hour
    await rig.clock.advance(90 * 60_000)
    rig.clock.setBack(hour)
    await rig.settle()
    t.same(await results(rig, id, back), [], 'an hour and a half has passed')
    await rig.clock.advance(dueAt - 1 - rig.clock.now())
    await rig.settle()
    t.same(await results(rig, id, back), [])
    await rig.clock.advance(1)
    await rig.settle()
    t.same(await results(rig, id, back), ['pause waited'])

    const forward = await begin('forward@example.test')
    await rig.clock.advance(day)
    await rig.settle()
    t.same(await results(rig, id, forward), ['pause waited'])
    // It was late, and went back behind the time at which it began.
    const both = await begin('both@example.test')
    rig.clock.setBack(day)
    await rig.settle()
    t.same(await results(rig, id, both), [])
    await rig.passUntil(rig.clock.now() + day + 2 * hour + 1)
    t.same(await results(rig, id, both), ['pause waited'])
  },
)

t.test('an event is heard though the appliance slept past the timeout', async (t) => {
  const rig = await openTimeline(t)
  const id = await rig.enable(waiting)
  const { id: contactId } = await rig.contact('ada@example.test')
  await rig.accept({ contactId, event: startName })
  await rig.settle()
  await rig.clock.advance(3 * day)
  t.match(await rig.accept({ contactId, event: 'order.paid' }), [{ resumed: 1 }])
  await rig.settle()
  t.same(await results(rig, id, contactId), ['paid received', 'thanks updated'])
})

t.test('what was planned before a pause or an archiving is not written after it', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, clock, deps } = rig
  const plan = async () => {
    const batch = await planDue(deps, accountId, { now: clock.now(), limit: 200 })
    if (batch === undefined) throw new Error('Nothing is due')
    return async () => await takePlans({ ...deps, ids: store.ids }, batch, clock.now())
  }
  const id = await rig.enabled([trigger(), send('mail')])
  const run = await rig.start()
  const automation = await rig.automation(id)
  const takeAfterPause = await plan()
  await pauseAutomation(rig, automation)
  await takeAfterPause()
  t.same(await rig.mails(), [])
  t.match(await rig.run(run), { history: [] })
  // And a run is not held for a pause that is over.
  const holdAfterResume = await plan()
  await passing(
    clock,
    resumeAutomation(rig, automation, 'now').catch(() => {}),
  )
  await holdAfterResume()
  t.match(await rig.run(run), { status: 'running', waitingFor: null })
  const takeAfterArchive = await plan()
  await store.write((tx) =>
    tx.updateTable('automations').set({ status: 'archived' }).where('id', '=', id).execute(),
  )
  await takeAfterArchive()
  t.same(await rig.mails(), [])
  await rig.work()
  t.match(await rig.run(run), { status: 'cancelled', reason: 'archived' })
})
