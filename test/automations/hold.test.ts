import t from 'tap'
import {
  countHeld,
  findAutomation,
  finishReleases,
  type HeldRelease,
  holdOverdueRuns,
  overdueReason,
  pauseAutomation,
  releaseRuns,
  resumeAutomation,
} from '../../src/automations/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  dayMs,
  delay,
  hourMs,
  openEngine,
  passing,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'
import { mortalStore } from '../support/mortal-store.js'

const steps = [trigger(), delay('first', 'P1D'), send('one'), delay('second', 'P20D'), send('two')]

t.test('a pause of ten days moves every timer, and nothing twice', async (t) => {
  for (const [how, mailsAtOnce] of [
    ['shift', 0],
    ['now', 1],
    ['skip', 0],
  ] as const) {
    const rig = await openEngine(t)
    const id = await rig.enabled(steps)
    const due = await rig.start()
    await rig.work()
    await rig.clock.advance(dayMs / 2)
    const automation = await findAutomation(rig.store.read, rig.accountId, id)
    await pauseAutomation(rig, automation)
    const during = await rig.start({ email: 'bob@example.com' })
    await rig.pass(10 * dayMs)
    t.same(await rig.mails(), [])
    t.match(await rig.run(due), { waitingFor: { kind: 'held', until: null } })
    const { released } = await passing(rig.clock, resumeAutomation(rig, automation, how))
    t.ok(released >= 2, `${released}`)
    await rig.work()
    t.equal((await rig.mails()).length, mailsAtOnce, how)
    t.match(await rig.run(during), { currentStep: 'first' }, 'it starts when it is released')
    await rig.pass(dayMs / 2)
    const story = await rig.story(due)
    if (how === 'shift')
      t.match(story, /^start started, first released:shift, first waited, one sent$/)
    if (how === 'now') t.match(story, /first released:now, first waited, one sent$/)
    if (how === 'skip') t.match(story, /first released:skip, first waited, one skipped:overdue$/)
    await rig.pass(dayMs)
    await rig.pass(21 * dayMs)
    t.match(await rig.run(due), { status: 'completed' })
    t.match(await rig.run(during), { status: 'completed' })
    t.equal((await rig.mails()).length, how === 'skip' ? 3 : 4)
    await rig.counted(id)
  }
})

t.test('a kill at any step of a resume: the chore does the rest', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('first', 'P1D'), send('one')])
  for (const email of ['ada@example.com', 'bob@example.com']) await rig.start({ email })
  await rig.work()
  const automation = await findAutomation(rig.store.read, rig.accountId, id)
  const held = async () => (await countHeld(rig.store.read))[0]?.runs ?? 0
  const dueAts = async () =>
    (await rig.store.read.selectFrom('automation_live').select('due_at').execute()).map(
      (row) => row.due_at,
    )
  const before = await dueAts()
  // It is wanted, the timers are held, the automation goes on, the runs are released, and no more is to be done.
  for (let commits = 0; commits <= 5; commits++) {
    await pauseAutomation(rig, automation)
    await rig.clock.advance(hourMs)
    const { store, died } = mortalStore(rig.store, commits)
    const resume = resumeAutomation({ ...rig, store }, automation, 'shift')
    const ended = await passing(rig.clock, Promise.race([resume, died]))
    t.equal(ended === 'died', commits < 5)
    await rig.clock.advance(11_000)
    const signal = new AbortController().signal
    await passing(rig.clock, finishReleases({ ...rig, log: silentLog }, signal))
    const now = await findAutomation(rig.store.read, rig.accountId, id)
    const { paused_at: pausedAt, releasing } = now
    t.equal(pausedAt !== null, commits < 1, `after ${commits}`)
    t.equal(releasing, null)
    t.equal(await held(), 0)
    if (pausedAt !== null) await passing(rig.clock, resumeAutomation(rig, automation, 'shift'))
    t.equal(await held(), 0)
  }
  t.ok((await dueAts()).every((at, n) => at >= (before[n] ?? 0) + 5 * hourMs))
})

t.test('a pause while a resume releases runs keeps the others held', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('first', 'P1D'), send('one')])
  await rig.start()
  await rig.work()
  const automation = await findAutomation(rig.store.read, rig.accountId, id)
  await pauseAutomation(rig, automation)
  await rig.clock.advance(hourMs)
  let paused: Promise<unknown> | undefined
  // The third commit lets it go on.
  const { store } = mortalStore(rig.store, 99, (count) => {
    if (count === 3) paused = pauseAutomation(rig, automation)
  })
  const resume = resumeAutomation({ ...rig, store }, automation, 'shift')
  t.match(await passing(rig.clock, resume), { released: 0 })
  await paused
  t.match(await countHeld(rig.store.read), [{ runs: 1 }])
  await passing(rig.clock, resumeAutomation(rig, automation, 'shift'))
  t.same(await countHeld(rig.store.read), [])
})

t.test('an event that comes during a pause is heard after it', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), wait('paid', 'paid', { timeout: 'P1D' }), send('one')])
  const run = await rig.start()
  await rig.work()
  const automation = await findAutomation(rig.store.read, rig.accountId, id)
  await pauseAutomation(rig, automation)
  t.equal((await rig.event({ event: 'paid' })).resumed, 1)
  await rig.pass(2 * dayMs)
  await passing(rig.clock, resumeAutomation(rig, automation, 'shift'))
  await rig.work()
  t.match(await rig.story(run), /paid received, one sent$/)
})

t.test('after a restore nothing leaves before it is released', async (t) => {
  for (const how of ['shift', 'now', 'skip'] as readonly HeldRelease[]) {
    const rig = await openEngine(t)
    await rig.enabled(steps)
    const run = await rig.start()
    await rig.work()
    // A copy of three days ago is started.
    await rig.clock.advance(3 * dayMs)
    t.equal(await holdOverdueRuns(rig), 1)
    await rig.work()
    t.match(await countHeld(rig.store.read), [{ runs: 1, reason: overdueReason, name: 'Welcome' }])
    t.same(await rig.mails(), [])
    await rig.pass(hourMs)
    await passing(rig.clock, releaseRuns(rig, { accountId: rig.accountId }, how))
    await rig.work()
    t.equal((await rig.mails()).length, how === 'now' ? 1 : 0, how)
    await rig.pass(dayMs)
    t.equal((await rig.mails()).length, how === 'skip' ? 0 : 1, how)
    t.match(await rig.run(run), { currentStep: 'second' })
  }
})

t.test(
  'a run that waited while the appliance was down is put off by that time alone',
  async (t) => {
    const rig = await openEngine(t)
    await rig.enabled(steps)
    await rig.start()
    await rig.work()
    await rig.clock.advance(dayMs / 2)
    await rig.store.write((tx) =>
      tx
        .insertInto('appliance')
        .values({ id: 1, key_check: '', alive_at: rig.clock.now() })
        .execute(),
    )
    await rig.clock.advance(3 * dayMs)
    t.equal(await holdOverdueRuns(rig), 1)
    await passing(rig.clock, releaseRuns(rig, { accountId: rig.accountId }, 'shift'))
    await rig.pass(dayMs / 2 - hourMs)
    t.equal((await rig.mails()).length, 0)
    await rig.pass(2 * hourMs)
    t.equal((await rig.mails()).length, 1)
  },
)

t.test('runs held for no reason are counted apart from those for the text null', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled(steps)
  for (const [email, reason, dueAt] of [
    ['a@one.test', null, 3],
    ['b@one.test', 'null', 2],
    ['c@one.test', 'null', 1],
  ] as const) {
    const id = await rig.start({ email })
    await rig.store.write((tx) =>
      tx
        .updateTable('automation_live')
        .set({ held_at: 1, held_reason: reason, held_due_at: dueAt })
        .where('id', '=', id)
        .execute(),
    )
  }
  const counts = await countHeld(rig.store.read)
  t.match(
    counts.sort((a, b) => a.runs - b.runs),
    [
      { reason: null, runs: 1, oldestDueAt: 3 },
      { reason: 'null', runs: 2, oldestDueAt: 1 },
    ],
  )
})

t.test('what is overdue by less than an hour goes on at the start', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled(steps)
  await rig.start()
  await rig.work()
  await rig.clock.advance(dayMs + hourMs / 2)
  t.equal(await holdOverdueRuns(rig), 0)
  await rig.work()
  t.equal((await rig.mails()).length, 1)
})
