import t from 'tap'
import { delay, openEngine, send, trigger } from '../support/automation-rig.js'

t.test('whoever reaches the goal is counted once, be it an end or a step', async (t) => {
  for (const goal of [{ eventName: 'paid' }, { eventName: 'paid', to: 'thanks' }]) {
    const rig = await openEngine(t)
    const steps = [trigger(), delay('first', 'P1D'), send('thanks')]
    const id = await rig.enabled(steps, { settings: { goal } })
    await rig.start()
    await rig.start({ email: 'bob@example.com' })
    await rig.work()
    t.match(await rig.automation(id), { reached: 0 })
    await rig.event({ event: 'paid' })
    await rig.event({ event: 'paid' })
    await rig.work()
    t.match(await rig.automation(id), { reached: 1 }, JSON.stringify(goal))
  }
})
