// What is stored of one run may be broken: by a bug, a hand in the database, a damaged page.
import t from 'tap'
import {
  findAutomation,
  makeEngineMemory,
  pauseAutomation,
  resumeAutomation,
} from '../../src/automations/index.js'
import { leaveRuns } from '../../src/runs/index.js'
import type { AutomationLiveRow } from '../../src/store/index.js'
import {
  dayMs,
  delay,
  openEngine,
  passing,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'

type Breakage = Partial<
  Pick<AutomationLiveRow, 'history' | 'waits' | 'heard' | 'version' | 'step_id' | 'trigger_event'>
>

const breakages: Record<string, Breakage> = {
  history: { history: '{' },
  'history without lines': { history: '[1]' },
  'what its waits received': { waits: '{' },
  'waits that are no list': { waits: 'null' },
  'what it heard': { heard: '{' },
  'its version': { version: 99 },
  'its step': { step_id: 999_999 },
  'its trigger': { trigger_event: 999_999 },
}

const steps = [trigger(), delay('pause', 'P1D'), send('mail')]

async function openBroken(t: Parameters<typeof openEngine>[0], change: Breakage, of = steps) {
  const rig = await openEngine(t)
  const id = await rig.enabled(of)
  const broken = await rig.start({ email: 'broken@example.com' })
  const other = await rig.start()
  await rig.work()
  await rig.store.write((tx) =>
    tx.updateTable('automation_live').set(change).where('id', '=', broken).execute(),
  )
  return { rig, id, broken, other }
}

for (const [what, change] of Object.entries(breakages)) {
  t.test(`a run of which is broken: ${what}, fails in the end and holds up no other`, async (t) => {
    const { rig, id, broken, other } = await openBroken(t, change)
    await rig.pass(dayMs)
    t.match(await rig.run(other), { status: 'completed' })
    for (let days = 0; days < 5; days++) await rig.pass(dayMs)
    t.match(await rig.run(broken), { status: 'failed', reason: /^fault: / })
    await rig.counted(id)
  })
}

t.test('an event whose payload is broken holds up no run of another contact', async (t) => {
  const waiting = [trigger(), wait('paid', 'order.paid'), send('mail')]
  const { rig, broken, other } = await openBroken(t, { waits: null }, waiting)
  await rig.event({ event: 'order.paid', email: 'broken@example.com' })
  await rig.event({ event: 'order.paid' })
  await rig.store.write((tx) =>
    tx
      .updateTable('automation_events')
      .set({ payload: '{' })
      .where('contact_id', '=', (eb) =>
        eb.selectFrom('automation_live').select('contact_id').where('id', '=', broken),
      )
      .execute(),
  )
  await rig.work()
  t.match(await rig.run(other), { status: 'completed' })
  t.match(await rig.run(broken), { status: 'completed' })
})

t.test('runs are listed, ended and released with one whose history is broken', async (t) => {
  const { rig, id, broken, other } = await openBroken(t, { history: '{' })
  t.match(await rig.run(broken), { status: 'waiting', history: [] })
  const automation = await findAutomation(rig.store.read, rig.accountId, id)
  await pauseAutomation(rig, automation)
  await rig.pass(2 * dayMs)
  await passing(rig.clock, resumeAutomation(rig, automation, 'now'))
  await rig.work()
  t.match(await rig.run(other), { status: 'completed' })
  const bounce = { address: 'broken@example.com', reason: 'bounced', at: rig.clock.now() } as const
  await rig.store.write((tx) => leaveRuns(tx, rig.accountId, bounce))
  t.match(await rig.run(broken), { status: 'exited', reason: 'bounced' })
  await rig.counted(id)
})

t.test('a version that cannot be read undoes no event that it would hear of', async (t) => {
  const waiting = [trigger(), wait('paid', 'order.paid'), send('mail')]
  const rig = await openEngine(t)
  const broken = await rig.enabled(waiting)
  await rig.start()
  await rig.work()
  await rig.store.write((tx) =>
    tx
      .updateTable('automation_versions')
      .set({ definition: '{' })
      .where('automation_id', '=', broken)
      .execute(),
  )
  // As after a start: nothing of it is in memory.
  rig.accepting.versions = makeEngineMemory().versions
  await rig.enabled([trigger(), send('mail')], {}, 'Sound')
  t.match(await rig.event(), { started: 1, automations: [{ name: 'Sound' }] })
  t.match(await rig.event({ event: 'order.paid' }), { resumed: 0 })
})
