import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { acceptBatch } from '../../src/automations/batch.js'
import {
  acceptEvents,
  cancelRun,
  disableAutomation,
  editAutomation,
  enableAutomation,
  findAutomation,
  makeFollowAutomations,
  makeFollowContacts,
  makeLiveLimit,
  nextDueAt,
  refuseTemplateInUse,
} from '../../src/automations/index.js'
import { readBilling } from '../../src/billing/index.js'
import { addContact } from '../../src/contacts/index.js'
import {
  dayMs,
  delay,
  exit,
  hourMs,
  minuteMs,
  openEngine,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'

t.test('an event says why it has started nothing', async (t) => {
  const rig = await openEngine(t)
  const filter = { field: 'event.total', operator: 'gt', value: 10 }
  await rig.enabled([trigger('big', { filter }), exit()])
  await rig.enabled([trigger('once', { reentry: 'once' }), exit()])
  await rig.enabled([trigger('weekly', { reentry: { after: 'P7D' } }), exit()])
  await rig.enabled([trigger('often'), exit()])
  const reason = async (event: string, more: object = {}) =>
    (await rig.event({ event, ...more })).automations.map((one) => one.reason)
  t.same(await reason('big', { payload: { total: 1 } }), ['filtered'])
  t.same(await reason('big', { payload: { total: '11' } }), ['filtered'], 'a text is no number')
  t.same(await reason('big', { payload: { total: 11 } }), [undefined])
  t.same(await reason('once'), [undefined])
  await rig.work()
  t.same(await reason('once'), ['already_entered'])
  t.same(await reason('weekly'), [undefined])
  t.same(await reason('weekly'), ['already_running'])
  await rig.pass(6 * dayMs)
  t.same(await reason('weekly'), ['too_soon'])
  await rig.pass(dayMs)
  t.same(await reason('weekly'), [undefined])
  const at = (ms: number) => ({ occurredAt: new Date(rig.clock.now() - ms).toISOString() })
  t.same(await reason('often', at(25 * hourMs)), ['too_old'])
  for (let n = 0; n < 20; n++) {
    t.same(await reason('often', at(hourMs)), [undefined])
    await rig.work()
  }
  t.same(await reason('often'), ['limit'])
  await rig.pass(hourMs)
  t.same(await reason('often'), [undefined])
  t.same(await reason('nobody.listens'), [])
})

t.test('a batch is taken in wholly or not at all, and each event once under its key', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), exit()])
  const batch = async (items: object[]) =>
    await acceptBatch(rig.accepting, await rig.billing(), items, async () => {})
  const nobody = '01900000-0000-7000-8000-000000000000'
  const good = { event: 'signup', email: 'ann@example.com', idempotencyKey: 'a' }
  const refused = batch([good, { event: 'x' }, { event: 'a b', email: 'a@b.test' }])
  await t.rejects(refused, /2 of 3 events are invalid/)
  t.match(await refused.catch((error) => error.fields), { errors: [{ index: 1 }, { index: 2 }] })
  const unknown = batch([good, { event: 'x', contactId: nobody }])
  t.match(await unknown.catch((error) => error.fields), {
    errors: [{ index: 1, error: 'The account has no contact with this id' }],
  })
  const both = batch([{ event: 'a b' }, good, { event: 'x', contactId: nobody }])
  t.match(await both.catch((error) => error.fields), {
    errors: [
      { index: 0, error: /^event: Expected .*; contactId: Required/ },
      { index: 2, error: 'The account has no contact with this id' },
    ],
  })
  t.same(await rig.store.read.selectFrom('automation_events').select('id').execute(), [])

  const first = await batch([good, { ...good, idempotencyKey: 'b' }, good])
  t.match(first, { accepted: 3, results: [{ started: 1 }, { started: 0 }, { started: 1 }] })
  t.same(first.results[0], first.results[2], 'a repeat in the same batch')
  await rig.work()
  const again = await batch([good])
  t.same(again.results[0], first.results[0], 'the run has ended, and still it is the same event')
  const events = await rig.store.read.selectFrom('automation_events').select('id').execute()
  t.equal(events.length, 2)
  await t.rejects(batch([{ ...good, event: 'other' }]), /invalid/)
  const paid = (payload: object) => ({ ...good, idempotencyKey: 'c', payload })
  const told = await batch([paid({ sum: 1, of: { a: 1, b: 2 } })])
  t.same(await batch([paid({ of: { b: 2, a: 1 }, sum: 1 })]), told, 'in another order')
  await rig.work()
  await rig.clock.advance(25 * hourMs)
  t.match(await batch([good]), { results: [{ started: 1, contactCreated: false }] })
})

t.test('what belongs to another account is not there', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('pause', 'P1D')])
  const run = await rig.start()
  const ann = await rig.add('ann@example.com')
  const other = await createAccount(rig, 'Other')
  const billing = await readBilling(rig.store.read, plans, other.id)
  const gone = { code: 'not_found' }
  await t.rejects(findAutomation(rig.store.read, other.id, id), gone)
  await t.rejects(enableAutomation(rig.deps, billing, id), gone)
  await t.rejects(editAutomation(rig.deps, billing, id, { name: 'Mine' }), gone)
  await t.rejects(disableAutomation(rig.deps, other.id, id), gone)
  await t.rejects(cancelRun(rig.deps, other.id, run), gone)
  const input = { event: 'signup', contactId: ann.id }
  await t.rejects(acceptEvents(rig.accepting, billing, [input]), gone)
  const [theirs] = await acceptEvents(rig.accepting, billing, [
    { event: 'signup', email: 'ann@example.com' },
  ])
  t.match(theirs, { contactCreated: true, started: 0, automations: [] })
})

t.test('runs go on in the version in which they began', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), wait('paid', 'paid'), send('old')])
  const before = await rig.start()
  await rig.work()
  await disableAutomation(rig.deps, rig.accountId, id)
  t.equal((await rig.event({ email: 'bob@example.com' })).started, 0)
  const billing = await rig.billing()
  const steps = [trigger(), wait('paid', 'other'), send('new')]
  const connections = [
    { from: 'start', to: 'paid', type: 'default' },
    { from: 'paid', to: 'new', type: 'event_received' },
  ]
  await editAutomation(rig.deps, billing, id, { steps, connections })
  await editAutomation(rig.deps, billing, id, { name: 'Renamed' })
  await enableAutomation(rig.deps, billing, id)
  t.match(await rig.automation(id), { version: 2, name: 'Renamed', status: 'enabled' })
  const after = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  for (const email of ['ann@example.com', 'bob@example.com']) {
    await rig.event({ event: 'paid', email })
    await rig.event({ event: 'other', email })
  }
  await rig.work()
  t.match(await rig.run(before), { version: 1, status: 'completed' })
  t.equal(await rig.story(before), 'start started, paid received, old sent')
  t.match(await rig.run(after), { version: 2 })
  t.equal(await rig.story(after), 'start started, paid received, new sent')
  await rig.counted(id)
})

t.test('an archived automation cancels its runs, and a cancelled run does no more', async (t) => {
  const { archiveAutomation } = await import('../../src/automations/index.js')
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
  const run = await rig.start()
  const other = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  await cancelRun(rig.deps, rig.accountId, other)
  t.match(await rig.run(other), { status: 'cancelled', reason: 'api' })
  await t.rejects(cancelRun(rig.deps, rig.accountId, other), { code: 'conflict' })
  await archiveAutomation(rig.deps, rig.accountId, id)
  t.match(await rig.run(run), { status: 'cancelled', reason: 'archived' })
  await rig.pass(2 * dayMs)
  t.same(await rig.mails(), [])
  await rig.counted(id)
})

t.test('a goal takes a run on, an exit rule ends it, wherever it is', async (t) => {
  const rig = await openEngine(t)
  const steps = [trigger(), delay('pause', 'P9D'), send('reminder'), send('thanks')]
  const connections = [
    { from: 'start', to: 'pause', type: 'default' },
    { from: 'pause', to: 'reminder', type: 'default' },
  ]
  const settings = {
    goal: { eventName: 'bought', to: 'thanks' },
    exitOn: [{ eventName: 'stop', filter: { field: 'event.sure', operator: 'eq', value: true } }],
  }
  const id = await rig.enabled(steps, { connections, settings })
  const buyer = await rig.start()
  const leaver = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  await rig.event({ event: 'bought' })
  await rig.event({ event: 'stop', email: 'bob@example.com', payload: { sure: false } })
  t.match(await rig.run(leaver), { status: 'waiting' })
  await rig.event({ event: 'stop', email: 'bob@example.com', payload: { sure: true } })
  t.match(await rig.run(leaver), { status: 'exited', reason: 'exit_rule' })
  await rig.work()
  t.equal(await rig.story(buyer), 'start started, pause goal, thanks sent')
  t.same(await rig.store.read.selectFrom('automation_listens').selectAll().execute(), [])
  await rig.counted(id)
})

t.test('beyond the live runs that may be, events start none and still wake', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), wait('paid', 'paid'), exit()])
  const run = await rig.start()
  await rig.work()
  const full = { ...rig.accepting, isFull: async () => true }
  const event = async (name: string, email: string) =>
    await acceptEvents(full, await rig.billing(), [{ event: name, email }])
  await t.rejects(event('signup', 'bob@example.com'), { code: 'service_unavailable', status: 503 })
  t.match(await event('paid', 'ann@example.com'), [{ resumed: 1 }])
  await rig.work()
  t.match(await rig.run(run), { status: 'exited' })
})

t.test('beyond the live runs that may be, joins and opens begin no run either', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId, listId, memory } = rig
  await rig.enabled([trigger('$list.joined'), delay('pause', 'P1D')])
  const opened = await rig.enabled([trigger('$email.opened'), delay('pause', 'P1D')], {}, 'Opened')
  await rig.enabled([trigger(), send('mail')], {}, 'Mail')
  await rig.start()
  await rig.work()
  const limit = makeLiveLimit(1)
  const join = async (email: string) => {
    const follow = makeFollowContacts(memory.versions, clock, limit)
    await addContact({ store, clock }, accountId, { email }, { listId, follow })
  }
  await join('bob@example.com')
  // It is counted anew when the last count is some seconds old.
  await clock.advance(minuteMs)
  await join('carol@example.com')
  const live = await store.read.selectFrom('automation_live').select('id').execute()
  t.equal(live.length, 1)
  const [mail] = await rig.mails()
  if (mail === undefined) throw new Error('There is no mail')
  const effect = makeFollowAutomations(limit)
  await store.write((tx) =>
    effect(tx, [
      {
        accountId,
        emailId: mail.id,
        deliveryId: 1,
        recipient: 'ann@example.com',
        type: 'opened',
        at: clock.now(),
        class: mail.class,
        reply: null,
        detail: null,
      },
    ]),
  )
  t.match(await rig.automation(opened), { enrolled: 0 })
})

t.test('events of one name do not pile up, whatever comes between them', async (t) => {
  const rig = await openEngine(t)
  const billing = await rig.billing()
  // Two contacts by turns: the events of one all have odd ids.
  const turns = Array.from({ length: 100 }, (_, n) => ({
    event: 'seen',
    email: n % 2 === 0 ? 'ann@example.com' : 'bob@example.com',
  }))
  for (let n = 0; n < 14; n += 1) await acceptEvents(rig.accepting, billing, turns)
  const rows = await rig.store.read
    .selectFrom('automation_events')
    .select((eb) => ['contact_id', eb.fn.countAll<number>().as('events')])
    .groupBy('contact_id')
    .execute()
  t.equal(rows.length, 2)
  for (const { events } of rows) t.ok(events >= 500 && events < 600, `${events} are kept`)
})

t.test('a template that runs still send is not deleted by surprise', async (t) => {
  const rig = await openEngine(t)
  const { read } = rig.store
  const refuse = () => refuseTemplateInUse(read, rig.accountId, 'hello')
  await refuse()
  const id = await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
  await t.rejects(refuse(), { code: 'conflict', message: /is sent by "Welcome"/ })
  await rig.start()
  await rig.work()
  await disableAutomation(rig.deps, rig.accountId, id)
  await t.rejects(refuse(), { code: 'conflict' }, 'a run is under way')
  await rig.pass(dayMs)
  await refuse()
})

t.test('an event that starts nothing itself has the engine look for what is due', async (t) => {
  const rig = await openEngine(t)
  const goal = { eventName: 'paid', to: 'out' }
  const steps = [trigger('begin'), wait('order', 'order'), exit('out')]
  const connections = [
    { from: 'start', to: 'order', type: 'default' },
    { from: 'order', to: 'out', type: 'event_received' },
  ]
  await rig.enabled(steps, { connections, settings: { goal } })
  await rig.start({ event: 'begin' })
  await rig.work()
  const due: (number | undefined)[] = []
  const accepting = {
    ...rig.accepting,
    automateIfDue: () => void nextDueAt(rig.store.read).then((at) => due.push(at)),
  }
  const paid = [{ event: 'paid', email: 'ann@example.com' }]
  const [answer] = await acceptEvents(accepting, await rig.billing(), paid)
  t.match(answer, { started: 0, resumed: 0 }, 'the goal is no wait')
  await rig.store.read.selectFrom('accounts').select('id').execute()
  t.same(due, [rig.clock.now()], 'its run is due now')
})
