import t from 'tap'
import {
  findAutomation,
  pauseAutomation,
  planResume,
  resumeAutomation,
} from '../../src/automations/index.js'
import { dayMs, delay, openEngine, passing, send, trigger } from '../support/automation-rig.js'

const steps = [
  trigger(),
  delay('first', 'P1D'),
  send('one'),
  send('two'),
  delay('second', 'P20D'),
  send('three'),
]

t.test('a dry run says how many mails each way sends at once, and then it is so', async (t) => {
  for (const how of ['shift', 'now', 'skip'] as const) {
    const rig = await openEngine(t)
    const id = await rig.enabled(steps)
    for (const email of ['ada@example.com', 'bob@example.com', 'eve@example.com']) {
      await rig.start({ email })
    }
    await rig.work()
    const automation = await findAutomation(rig.store.read, rig.accountId, id)
    await pauseAutomation(rig, automation)
    await rig.pass(10 * dayMs)
    const looking = { read: rig.store.read, versions: rig.memory.versions }
    const plan = await planResume(looking, automation, rig.clock.now())
    t.same(plan, { held: 3, mails: { shift: 0, now: 6, skip: 0 }, isAll: true })
    t.same(await rig.mails(), [], 'nothing was done')
    await passing(rig.clock, resumeAutomation(rig, automation, how))
    await rig.work()
    t.equal((await rig.mails()).length, plan.mails[how], how)
  }
})

t.test('whoever waits for a resume is not kept longer than they said', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled(steps)
  await rig.start()
  await rig.work()
  const automation = await findAutomation(rig.store.read, rig.accountId, id)
  await pauseAutomation(rig, automation)
  const none = { until: rig.clock.now() }
  t.same(await resumeAutomation(rig, automation, 'shift', none), { released: 0, isDone: false })
  const left = await findAutomation(rig.store.read, rig.accountId, id)
  t.match(left, { releasing: 'shift', releasing_at: 0 }, 'the appliance goes on at once')
})
