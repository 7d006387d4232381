import t from 'tap'
import { showFigures } from '../../src/app/automations.js'
import { holdOverdueRuns } from '../../src/automations/index.js'
import { makeTally } from '../../src/metrics/index.js'
import { dayMs, delay, openEngine, send, trigger } from '../support/automation-rig.js'

t.test('metrics tell of live runs, what blocks them, and how late the latest is', async (t) => {
  const rig = await openEngine(t)
  const { clock, store } = rig
  const tally = makeTally()
  const gauges = async () => {
    await showFigures({ store, clock, meter: tally })
    const { gauges } = tally.take()
    return {
      live: gauges.posthorn_automation_live,
      blocked: gauges.posthorn_automation_blocked,
      late: gauges.posthorn_automation_oldest_due_seconds?.[''],
    }
  }
  t.match(await gauges(), { live: { running: 0, waiting: 0 }, late: 0 })
  await rig.enabled([trigger(), delay('pause', 'P1D'), send('one')])
  await rig.start()
  await rig.work()
  await rig.start({ email: 'bob@example.com' })
  await clock.advance(90_000)
  t.match(await gauges(), { live: { running: 1, waiting: 1 }, blocked: { held: 0 }, late: 90 })
  await rig.work()
  await clock.advance(dayMs)
  await rig.work({ maxQueued: 0 })
  t.match(await gauges(), { blocked: { queue_full: 2, held: 0 } })
  await clock.advance(2 * dayMs)
  await holdOverdueRuns(rig)
  t.match(await gauges(), { blocked: { held: 2 }, late: 0 })
})

t.test('metrics count events and steps by what they came to', async (t) => {
  const rig = await openEngine(t)
  const branches = [
    { key: 'as-is', percent: 50 },
    { key: 'hold-out', percent: 50 },
  ]
  await rig.enabled([trigger(), { key: 'ab', type: 'split', config: { branches } }], {
    connections: [{ from: 'start', to: 'ab', type: 'default' }],
  })
  await rig.start()
  await rig.event({ event: 'nobody.listens' })
  await rig.work()
  const { counts } = rig.tally.take()
  t.same(counts.posthorn_automation_events_total, { started: 1, kept: 1 })
  const steps = Object.entries(counts.posthorn_automation_steps_total ?? {})
  // A branch has the name that its author chose, so there could be any number of them.
  t.same(steps, [
    ['trigger\u0000started', 1],
    ['split\u0000branch', 1],
  ])
})
