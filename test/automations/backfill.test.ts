import t from 'tap'
import {
  disableAutomation,
  enableAutomation,
  findBackfill,
  judgeBackfill,
  runBackfills,
  startBackfill,
  stopBackfill,
} from '../../src/automations/index.js'
import { suppress } from '../../src/suppression/index.js'
import {
  hourMs,
  minuteMs,
  openEngine,
  passing,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'
import { mortalStore } from '../support/mortal-store.js'

async function openList(t: Parameters<typeof openEngine>[0], contacts: number) {
  const rig = await openEngine(t)
  const readers: string[] = []
  for (let i = 0; i < contacts; i++) {
    readers.push((await rig.add(`r${i}@example.com`, { metadata: { n: i } })).id)
  }
  const deps = { ...rig.accepting, plans, isFull: async () => false }
  const { signal } = new AbortController()
  /** A look of the chore; the clock goes on while it rests. */
  async function look() {
    let done = false
    const work = runBackfills(deps, signal).finally(() => {
      done = true
    })
    while (!done) await rig.clock.advance(1)
    await work
  }
  const row = async (id: string) => await findBackfill(rig.store.read, id)
  return { rig, deps, look, row, readers }
}

t.test('a start over a list takes so many an hour, and goes on where it was', async (t) => {
  const { rig, look, row } = await openList(t, 8)
  const id = await rig.enabled([trigger(), send('one')])
  const { listId } = rig
  const automation = await rig.automation(id)
  await startBackfill(rig, automation, { crowd: { listId }, perHour: 120 })
  await t.rejects(
    startBackfill(rig, automation, { crowd: { listId }, perHour: 120 }),
    /is under way/,
  )
  await look()
  t.match(await row(id), { seen: 2, started: 2, ended_at: null })
  await look()
  t.match(await row(id), { started: 2 }, 'the next are due in a minute')
  await rig.clock.advance(minuteMs)
  await look()
  t.match(await row(id), { seen: 4, started: 4 })
  // A day without the appliance is not made up for.
  await rig.clock.advance(24 * hourMs)
  await look()
  t.match(await row(id), { seen: 6, started: 6 })
  await rig.clock.advance(minuteMs)
  await look()
  await rig.clock.advance(minuteMs)
  await look()
  t.match(await row(id), { seen: 8, started: 8, ended_at: Number })
  await rig.work()
  t.equal((await rig.mails()).length, 8)
  t.match(await rig.automation(id), { enrolled: 8, completed: 8 })
  await rig.counted(id)
})

t.test('members who are not let in cost no write each, and nothing of the rate', async (t) => {
  const { rig, deps, row } = await openList(t, 30)
  const few = { field: 'contact.metadata.n', operator: 'gte', value: 28 }
  const id = await rig.enabled([trigger('signup', { filter: few }), send('one')])
  await startBackfill(rig, await rig.automation(id), {
    crowd: { listId: rig.listId },
    perHour: 60,
  })
  let commits = 0
  const { store } = mortalStore(rig.store, 99, (count) => {
    commits = count
  })
  const look = () =>
    passing(rig.clock, runBackfills({ ...deps, store }, new AbortController().signal))
  await look()
  t.match(await row(id), { seen: 29, started: 1, ended_at: null })
  await rig.clock.advance(minuteMs)
  await look()
  t.match(await row(id), { seen: 30, started: 2, ended_at: Number })
  t.ok(commits <= 3, `${commits} commits`)
})

t.test('filter, re-entry and suppressions apply, and no other automation hears it', async (t) => {
  const { rig, deps, look, row, readers } = await openList(t, 6)
  const { listId } = rig
  const few = { field: 'contact.metadata.n', operator: 'lt', value: 4 }
  const steps = [trigger('signup', { filter: few, reentry: 'once' }), wait('paid', 'order.paid')]
  const id = await rig.enabled(steps)
  const other = await rig.enabled([trigger(), send('one')], {}, 'Other')
  await rig.event({ event: 'signup', contactId: readers[0] ?? '' })
  const gone = { email: 'r1@example.com', reason: 'bounce' as const }
  await rig.store.write((tx) => suppress(tx, rig.accountId, gone, rig.clock.now()))
  const automation = await rig.automation(id)
  const told = await judgeBackfill(deps, automation, { listId })
  t.match(told, { seen: 6, starts: 2 })
  t.same(Object.fromEntries(told.refused), { already_running: 1, suppressed: 1, filtered: 2 })
  await startBackfill(rig, automation, { crowd: { listId }, perHour: 100_000 })
  await look()
  t.match(await row(id), { seen: 6, started: 2, ended_at: Number })
  t.match(await rig.automation(id), { enrolled: 3 })
  t.match(await rig.automation(other), { enrolled: 1 })
  await rig.work()
  await rig.event({ event: 'order.paid', contactId: readers[2] ?? '' })
  await rig.work()
  t.match(await rig.automation(id), { completed: 1 })
  t.match(await judgeBackfill(deps, automation, { listId }), { starts: 0 })
})

t.test('it stands still while disabled, and ends when it is stopped', async (t) => {
  const { rig, look, row } = await openList(t, 4)
  const { listId } = rig
  const id = await rig.enabled([trigger(), send('one')])
  const automation = await rig.automation(id)
  await startBackfill(rig, automation, { crowd: { listId }, perHour: 60 })
  await disableAutomation(rig, rig.accountId, id)
  await look()
  t.match(await row(id), { seen: 0, started: 0 })
  await t.rejects(
    startBackfill(rig, await rig.automation(id), { crowd: { listId }, perHour: 1 }),
    /disabled/,
  )
  await enableAutomation(rig, await rig.billing(), id)
  await look()
  t.match(await row(id), { started: 1 })
  t.match(await stopBackfill(rig, automation), { started: 1 })
  await rig.clock.advance(hourMs)
  await look()
  t.match(await row(id), { started: 1, ended_at: Number })
  await t.rejects(stopBackfill(rig, automation), /No start over a list or a segment is under way/)
})

t.test(
  'what begins on a day of each person is not started for a list, nor is one that became so',
  async (t) => {
    const { rig, deps, look, row } = await openList(t, 8)
    const { listId } = rig
    const dated = trigger('$contact.date', { date: { field: 'birthday' } })
    const id = await rig.enabled([dated, send('one')])
    const automation = await rig.automation(id)
    const crowd = { crowd: { listId }, perHour: 120 }
    await t.rejects(startBackfill(rig, automation, crowd), /on a day of their own/)
    await t.rejects(judgeBackfill(deps, automation, { listId }), /on a day of their own/)
    t.equal((await rig.mails()).length, 0)

    const plain = await rig.enabled([trigger(), send('one')])
    await startBackfill(rig, await rig.automation(plain), crowd)
    await look()
    t.match(await row(plain), { started: 2, ended_at: null })
    await rig.store.write((tx) =>
      tx
        .updateTable('automation_dates')
        .set({ automation_id: plain, state: 'current' })
        .where('automation_id', '=', id)
        .execute(),
    )
    await rig.clock.advance(minuteMs)
    await look()
    t.match(await row(plain), { started: 2, ended_at: Number })
  },
)
