import t from 'tap'
import { showFigures } from '../../src/app/automations.js'
import {
  automationStanding,
  findAutomation,
  pauseAutomation,
  resumeAutomation,
} from '../../src/automations/index.js'
import { suspend, unsuspend } from '../../src/billing/index.js'
import { makeTally } from '../../src/metrics/index.js'
import {
  dayMs,
  delay,
  minuteMs,
  openEngine,
  passing,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'

const update = { key: 'note', type: 'contact_update', config: { metadata: { seen: true } } }

t.test(
  'runs of a suspended account take no step at all, and then go on as they were',
  async (t) => {
    const rig = await openEngine(t)
    const { store, accountId, clock } = rig
    const id = await rig.enabled([trigger(), delay('pause', 'P1D'), update, send('mail')])
    const waits = await rig.enabled([
      trigger('other'),
      wait('paid', 'paid', { timeout: 'P1D' }),
      update,
    ])
    const run = await rig.start()
    const waiting = await rig.start({ event: 'other' })
    await rig.work()
    const fresh = await rig.start({ email: 'bob@example.com' })
    await store.write((tx) => suspend(tx, accountId, 'spam'))
    await rig.pass(dayMs)
    for (const one of [run, fresh, waiting]) {
      const { status, waitingFor, history } = await rig.run(one)
      const until = clock.now() + 5 * minuteMs
      t.match(
        { status, waitingFor },
        { status: 'waiting', waitingFor: { kind: 'suspended', until } },
      )
      t.equal(history.length, one === fresh ? 0 : 1)
    }
    await rig.counted(id)
    const meter = makeTally()
    await showFigures({ store, clock, meter })
    t.match(meter.take().gauges.posthorn_automation_blocked, { suspended: 3, paused: 0 })
    const { waits: blocked } = await automationStanding(store.read, await rig.automation(id))
    t.same(blocked, [{ kind: 'blocked', reason: 'suspended', runs: 2 }])

    await store.write((tx) => unsuspend(tx, accountId))
    await rig.event({ event: 'paid' })
    await rig.pass(5 * minuteMs)
    t.equal(await rig.story(run), 'start started, pause waited, note updated, mail sent')
    t.equal(await rig.story(fresh), 'start started')
    t.match(await rig.run(fresh), { waitingFor: { kind: 'delay' } })
    t.equal(await rig.story(waiting), 'start started, paid received, note updated')
    await rig.counted(id)
    await rig.counted(waits)
  },
)

t.test('a run that passes over its overdue mail still does after a suspension', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const id = await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
  const run = await rig.start()
  await rig.work()
  const automation = await findAutomation(store.read, accountId, id)
  await pauseAutomation(rig, automation)
  await rig.pass(2 * dayMs)
  await passing(rig.clock, resumeAutomation(rig, automation, 'skip'))
  await store.write((tx) => suspend(tx, accountId, 'spam'))
  await rig.work()
  t.match(await rig.run(run), { waitingFor: { kind: 'suspended' } })
  await store.write((tx) => unsuspend(tx, accountId))
  await rig.pass(5 * minuteMs)
  t.match(await rig.story(run), /pause waited, mail skipped:overdue$/)
  t.same(await rig.mails(), [])
})
