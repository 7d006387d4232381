import t from 'tap'
import { moveRuns, newestVersion, planMove } from '../../src/automations/index.js'
import { dayMs, delay, openEngine, send, trigger, wait } from '../support/automation-rig.js'

const first = [
  trigger(),
  send('hello'),
  delay('pause', 'P5D'),
  wait('paid', 'order.paid'),
  delay('gone', 'P5D'),
  send('late'),
]

t.test(
  'runs move to the newest version where it has their step, as the dry run said',
  async (t) => {
    const rig = await openEngine(t)
    const id = await rig.enabled(first)
    const atDelay = await rig.start()
    const atWait = await rig.start({ email: 'bob@example.com' })
    await rig.work()
    const due = (await rig.run(atDelay)).waitingFor
    await rig.pass(5 * dayMs)
    const atGone = await rig.start({ email: 'cy@example.com' })
    const late = await rig.start({ email: 'dee@example.com' })
    await rig.work()
    await rig.event({ event: 'order.paid', email: 'cy@example.com' })
    t.match(due, { kind: 'delay' })
    t.match(await rig.run(atWait), { currentStep: 'paid' })
    await rig.pass(5 * dayMs)
    t.match(await rig.run(atGone), { currentStep: 'gone' }, 'it has heard its event before')
    t.match(await rig.run(late), { currentStep: 'paid' })

    const email = { all: [{ field: 'email.hello.delivered', operator: 'eq', value: false }] }
    const then = { key: 'unread', type: 'condition', config: email }
    const second = [
      trigger(),
      send('hello'),
      delay('pause', 'P1D'),
      wait('paid', 'order.paid'),
      then,
    ]
    await rig.revise(id, [...second, send('other')], {
      settings: { exitOn: [{ eventName: 'stop' }] },
    })
    const automation = await rig.automation(id)
    t.equal(await newestVersion(rig.store.read, automation), 2)
    const groups = await planMove(rig.store.read, automation, 2)
    t.match(groups, [
      { version: 1, step: 'paid', type: 'wait_for_event', runs: 3, stays: null },
      { version: 1, step: 'gone', runs: 1, stays: 'version 2 has no step gone' },
    ])
    const before = await rig.run(atWait)
    t.equal(await moveRuns(rig, automation, 2), 3)
    t.equal(await moveRuns(rig, automation, 2), 0)
    t.match(await rig.run(atWait), {
      version: 2,
      currentStep: 'paid',
      waitingFor: before.waitingFor,
      history: [{}, { step: 'hello' }, { step: 'pause' }, { step: 'paid', result: 'moved:v2' }],
    })
    t.match(await rig.run(atGone), { version: 1, currentStep: 'gone' })
    await rig.event({ event: 'order.paid', email: 'bob@example.com' })
    await rig.work()
    // The new version's condition finds the mail that was sent in the old one.
    t.match(await rig.story(atWait), /paid moved:v2, paid received, unread met, other sent$/)
    await rig.event({ event: 'stop', email: 'dee@example.com' })
    t.match(
      await rig.run(late),
      { status: 'exited', reason: 'exit_rule' },
      'it hears the new rules',
    )
    await rig.pass(5 * dayMs)
    t.match(await rig.story(atGone), /gone waited, late sent$/)
    await rig.counted(id)
  },
)

t.test('runs stay whose step is another thing in the newer version', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), wait('paid', 'order.paid'), send('one')])
  await rig.start()
  await rig.work()
  const automation = await rig.automation(id)
  await rig.revise(id, [trigger(), wait('paid', 'cart.paid'), send('one')])
  t.match(await planMove(rig.store.read, automation, 2), [{ stays: /waits for another event$/ }])
  await rig.revise(id, [trigger(), delay('paid', 'P1D'), send('one')])
  t.match(await planMove(rig.store.read, automation, 3), [{ stays: /the step is a delay$/ }])
  t.equal(await moveRuns(rig, automation, 3), 0)
  await t.rejects(moveRuns(rig, automation, 9), { message: /no version 9/ })
})

t.test('who waits at a step that is gone begins another one at once', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('gone', 'P5D'), send('late')])
  const run = await rig.start()
  const held = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  await rig.store.write((tx) =>
    tx
      .updateTable('automation_live')
      .set({ held_at: 1, held_reason: 'a test', held_due_at: 5, due_at: 9_000_000_000_000 })
      .where('id', '=', held)
      .execute(),
  )
  await rig.revise(id, [trigger(), send('soon'), delay('after', 'P1D')])
  const automation = await rig.automation(id)
  t.match(await planMove(rig.store.read, automation, 2), [
    { step: 'gone', runs: 2, stays: 'version 2 has no step gone', begins: null },
  ])
  const instead = { gone: 'soon' }
  const plan = await planMove(rig.store.read, automation, 2, { instead })
  t.match(plan, [{ step: 'gone', runs: 2, stays: null, begins: 'soon' }])
  for (const begins of ['nothing', 'start']) {
    const wrong = moveRuns(rig, automation, 2, { instead: { gone: begins } })
    await t.rejects(wrong, { message: /Version 2 has no step/ })
  }
  t.equal(await moveRuns(rig, automation, 2, { instead }), 2)
  await rig.counted(id)
  await rig.work()
  t.match(await rig.story(run), /soon moved:v2, soon sent$/)
  t.match(await rig.run(run), { version: 2, currentStep: 'after' })
  t.match(await rig.run(held), { currentStep: 'soon', waitingFor: { kind: 'held' } })
  const { entered } = await rig.store.read
    .selectFrom('automation_steps')
    .select('entered')
    .where('automation_id', '=', id)
    .where('key', '=', 'soon')
    .executeTakeFirstOrThrow()
  t.equal(entered, 2, 'who was moved to a step has come to it')
  await rig.counted(id)
})
