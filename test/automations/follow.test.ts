import t from 'tap'
import {
  cancelRun,
  makeFollowContacts,
  makeForgetContactEvents,
} from '../../src/automations/index.js'
import { setPlan } from '../../src/billing/index.js'
import { addContact } from '../../src/contacts/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { addEndpoint } from '../../src/webhooks/index.js'
import {
  dayMs,
  delay,
  exit,
  minuteMs,
  openEngine,
  send,
  trigger,
  wait,
} from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'

type Rig = Awaited<ReturnType<typeof openEngine>>

/** An event of the mail that a run has sent last, as outbound and tracking land it. */
async function land(rig: Rig, type: MailEvent['type'], more: Partial<MailEvent> = {}) {
  const mail = (await rig.mails()).at(-1)
  if (mail === undefined) throw new Error('There is no mail')
  const [recipient = ''] = JSON.parse(mail.to_list) as string[]
  const at = rig.clock.now()
  await rig.store.write(async (tx) => {
    if (type === 'opened' && more.detail?.machine !== true) {
      await tx.updateTable('emails').set({ opened_at: at }).where('id', '=', mail.id).execute()
    }
    await rig.land(tx, [
      {
        accountId: rig.accountId,
        emailId: mail.id,
        deliveryId: 1,
        recipient,
        type,
        at,
        class: mail.class,
        reply: null,
        detail: null,
        ...more,
      },
    ])
  })
}

t.test('counters of a step follow its mails, and what was merged is forgotten', async (t) => {
  const rig = await openEngine(t)
  await rig.saveTemplate('hello', { html: '<p>{{ contact.email }}</p>' })
  await rig.enabled([trigger(), send('mail')])
  await rig.start()
  await rig.work()
  const counts = async () =>
    await rig.store.read
      .selectFrom('automation_steps')
      .select(['mails', 'delivered', 'bounced', 'opened', 'unsubscribed'])
      .where('key', '=', 'mail')
      .executeTakeFirst()
  const merges = async () =>
    (await rig.store.read.selectFrom('email_merges').selectAll().execute()).map(({ variables }) =>
      JSON.parse(variables),
    )
  t.same(await merges(), [{ contact: { email: 'ann@example.com' } }], 'what the tags name alone')
  await land(rig, 'deferred')
  t.equal((await merges()).length, 1, 'it may be composed again')
  await land(rig, 'delivered')
  t.same(await merges(), [])
  await land(rig, 'opened', { detail: { machine: true } })
  await land(rig, 'opened', { detail: { first: true } })
  rig.clock.setBack(3_600_000)
  await land(rig, 'opened')
  t.match(await counts(), { mails: 1, delivered: 1, opened: 1, bounced: 0 })
  await land(rig, 'bounced', { before: 'delivered' })
  t.match(await counts(), { mails: 1, delivered: 0, opened: 1, bounced: 1 })
  await land(rig, 'bounced', { before: 'bounced', detail: { suppress: 'now' } })
  t.match(await counts(), { mails: 1, delivered: 0, opened: 1, bounced: 1 }, 'a worse one later')
})

t.test('a hard bounce of any mail ends the runs of its contact', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('mail'), delay('pause', 'P1D')])
  const run = await rig.start()
  await rig.work()
  await land(rig, 'bounced', { detail: { suppress: 'now' } })
  t.match(await rig.run(run), { status: 'exited', reason: 'bounced' })
})

t.test('a condition knows whether a person has opened the mail of an earlier step', async (t) => {
  const rig = await openEngine(t)
  const steps = [
    trigger(),
    send('first'),
    delay('pause', 'P1D'),
    {
      key: 'read',
      type: 'condition',
      config: { field: 'email.first.opened', operator: 'eq', value: true },
    },
    send('second'),
  ]
  await rig.enabled(steps)
  const run = await rig.start()
  const other = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  // The last mail is bob's.
  await land(rig, 'opened')
  await rig.pass(dayMs)
  t.match(await rig.story(other), /read met, second sent$/)
  t.match(await rig.story(run), /read not_met$/)
})

t.test('opens and bounces begin automations, machines do not', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('mail')])
  const id = await rig.enabled([trigger('$email.opened'), exit()], {}, 'Opened')
  await rig.start()
  await rig.work()
  await land(rig, 'opened', { detail: { machine: true } })
  t.match(await rig.automation(id), { running: 0 })
  await land(rig, 'opened')
  t.match(await rig.automation(id), { running: 1, enrolled: 1 })
  await rig.work()
  await rig.counted(id)
})

t.test('a run hears an open, click or bounce that no automation begins with', async (t) => {
  const rig = await openEngine(t)
  const waiting = await rig.enabled([
    trigger(),
    send('mail'),
    delay('pause', 'PT1H'),
    wait('read', '$email.opened'),
    exit('there'),
  ])
  const leaving = { exitOn: [{ eventName: '$email.opened' }] }
  const left = await rig.enabled([trigger(), delay('long', 'P1D')], { settings: leaving }, 'Left')
  const { automations } = await rig.event()
  const runOf = (id: string) =>
    automations.find(({ automationId }) => automationId === id)?.runId ?? ''
  await rig.work()
  await land(rig, 'opened', { detail: { machine: true } })
  t.match(await rig.run(runOf(left)), { status: 'waiting' }, 'a machine is no person')
  await land(rig, 'opened')
  t.match(await rig.run(runOf(left)), { status: 'exited', reason: 'exit_rule' })
  await rig.pass(60 * 60_000)
  t.match(await rig.story(runOf(waiting)), /pause waited, read received, there ended/)
  const kept = await rig.store.read.selectFrom('automation_events').select('name').execute()
  t.same(kept.map(({ name }) => name).sort(), ['$email.opened', 'signup'])
  await land(rig, 'opened')
  t.equal(
    (await rig.store.read.selectFrom('automation_events').select('name').execute()).length,
    2,
    'what nobody hears any more is not kept',
  )
})

t.test('a run that is parked on a click goes on with it', async (t) => {
  const rig = await openEngine(t)
  const steps = [trigger(), send('mail'), wait('click', '$email.clicked'), exit('there')]
  await rig.enabled(steps)
  const run = await rig.start()
  await rig.work()
  t.match(await rig.run(run), { status: 'waiting', waitingFor: { event: '$email.clicked' } })
  await land(rig, 'clicked', { detail: { url: 'https://example.com/x' } })
  await rig.work()
  t.match(await rig.story(run), /click received, there ended/)
})

t.test('a run that waits until its contact joins a list goes on then', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId, listId, memory } = rig
  const follow = makeFollowContacts(memory.versions, clock, async () => false)
  await rig.enabled([trigger(), wait('joined', '$list.joined'), exit('there')])
  const run = await rig.start()
  await rig.work()
  const ann = { email: 'ann@example.com' }
  await addContact({ store, clock }, accountId, ann, { follow, listId })
  await rig.work()
  t.match(await rig.story(run), /joined received, there ended/)
})

t.test('a new contact, and one who joins a list, begin automations', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId, listId, memory } = rig
  const follow = makeFollowContacts(memory.versions, clock, async () => false)
  const made = await rig.enabled([trigger('$contact.created'), exit()], {}, 'Made')
  const filter = { field: 'event.listId', operator: 'eq', value: listId }
  const joined = await rig.enabled([trigger('$list.joined', { filter }), exit()], {}, 'Joined')
  const add = (email: string, more: object) =>
    addContact({ store, clock }, accountId, { email }, { follow, ...more })
  await add('ann@example.com', {})
  t.match(await rig.automation(made), { enrolled: 1 })
  t.match(await rig.automation(joined), { enrolled: 0 })
  await add('ann@example.com', { listId })
  await add('ann@example.com', { listId })
  await add('bob@example.com', { listId })
  t.match(await rig.automation(made), { enrolled: 2 })
  t.match(await rig.automation(joined), { enrolled: 2 })
})

t.test('who all join at once get their mail at the rate of the automation', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId, listId, memory } = rig
  const follow = makeFollowContacts(memory.versions, clock, async () => false)
  const settings = { maxPerHour: 50 }
  const id = await rig.enabled([trigger('$list.joined'), send('mail')], { settings })
  for (let n = 0; n < 220; n += 1) {
    await addContact({ store, clock }, accountId, { email: `r${n}@x.test` }, { listId, follow })
  }
  const mails: number[] = []
  for (let hour = 0; hour < 5; hour += 1) {
    for (let look = 0; look < 4; look += 1) {
      await rig.work()
      await clock.advance(15 * minuteMs)
    }
    mails.push((await rig.mails()).length)
  }
  t.same(mails, [50, 100, 150, 200, 220])
  t.match(await rig.automation(id), { completed: 220, waiting: 0 })
})

t.test('a webhook step tells an endpoint of the account', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const { makeApplianceKey } = await import('../../src/config/index.js')
  const deps = { store, clock, key: makeApplianceKey(Buffer.alloc(32, 7)) }
  const { id: endpointId } = await addEndpoint(deps, plans, accountId, {
    url: 'https://hooks.example.com/x',
    events: ['email.sent'],
  })
  const step = (id: string) => [
    trigger(),
    {
      key: 'tell',
      type: 'webhook',
      config: { endpointId: id, payload: { total: { var: 'trigger.total' } } },
    },
  ]
  const nobody = '01900000-0000-7000-8000-000000000000'
  await t.rejects(rig.enabled(step(nobody)), /step "tell": endpointId/)
  // However its id is written.
  await rig.enabled(step(endpointId.toUpperCase()))
  const run = await rig.start({ payload: { total: 5 } })
  await rig.work()
  t.equal(await rig.story(run), 'start started, tell queued')
  const [job] = await store.read.selectFrom('webhook_jobs').selectAll().execute()
  t.match(job, { endpoint_id: endpointId, event: 'automation.step', attempts: 0 })
  t.match(JSON.parse(job?.body ?? '{}'), { runId: run, step: 'tell', payload: { total: 5 } })

  // A plan without webhooks: none is told, as of events of mail, and no such step is enabled any more.
  const without = plans.email.find(({ webhooks }) => !webhooks)
  if (without === undefined) throw new Error('Every plan has webhooks')
  await store.write((tx) => setPlan(tx, accountId, without))
  const other = await rig.start({ email: 'bob@example.com', payload: { total: 6 } })
  await rig.work()
  t.match(await rig.run(other), { status: 'completed' })
  t.equal(await rig.story(other), 'start started, tell skipped:no_webhooks')
  t.equal((await store.read.selectFrom('webhook_jobs').select('id').execute()).length, 1)
  await t.rejects(rig.enabled(step(endpointId), {}, 'Other'), /has no webhooks; ask the operator/)
})

t.test(
  'events are kept as long as the plan says, and as long as a run may ask for them',
  async (t) => {
    const rig = await openEngine(t)
    await rig.enabled([trigger(), delay('pause', 'P90D')])
    await rig.event({ event: 'before' })
    await rig.start()
    await rig.event({ event: 'since' })
    await rig.event({ event: 'else', email: 'bob@example.com' })
    await rig.work()
    await rig.clock.advance(40 * dayMs)
    await rig.event({ event: 'new' })
    await rig.event({ event: 'newest' })
    const keep = async () => new Map([[rig.accountId, 30 * dayMs]])
    const forget = makeForgetContactEvents({ store: rig.store, log: silentLog }, keep)
    await forget(rig.clock.now(), new AbortController().signal)
    const rows = await rig.store.read
      .selectFrom('automation_events')
      .select('name')
      .orderBy('id')
      .execute()
    t.same(
      rows.map(({ name }) => name),
      ['signup', 'since', 'new', 'newest'],
    )
  },
)

t.test('events that a long run has kept go when it has ended', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), delay('pause', 'P90D')])
  const run = await rig.start()
  const other = await rig.start({ email: 'bob@example.com' })
  await rig.event({ event: 'since' })
  await rig.work()
  const keep = async () => new Map([[rig.accountId, 30 * dayMs]])
  const forget = makeForgetContactEvents({ store: rig.store, log: silentLog }, keep)
  const kept = async () => {
    await forget(rig.clock.now(), new AbortController().signal)
    const rows = await rig.store.read
      .selectFrom('automation_events')
      .select('name')
      .orderBy('id')
      .execute()
    return rows.map(({ name }) => name)
  }
  await rig.clock.advance(40 * dayMs)
  await rig.event({ event: 'new', email: 'cid@example.com' })
  const all = ['signup', 'signup', 'since', 'new']
  t.same(await kept(), all)
  await cancelRun(rig, rig.accountId, run)
  t.same(await kept(), ['signup', 'new'])
  await rig.pass(50 * dayMs)
  t.match(await rig.run(other), { status: 'completed' })
  t.same(await kept(), ['new'], 'the newest stays, as its number would be given again')
  t.same(await rig.store.read.selectFrom('automation_kept').selectAll().execute(), [])
})

t.test(
  'of one name no more than 500 events of a contact are kept, and the one that began a run',
  async (t) => {
    const rig = await openEngine(t)
    await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
    const run = await rig.start()
    const { acceptEvents } = await import('../../src/automations/index.js')
    const many = Array.from({ length: 100 }, () => ({ event: 'signup', email: 'ann@example.com' }))
    for (let n = 0; n < 7; n++) await acceptEvents(rig.accepting, await rig.billing(), many)
    const { kept } = await rig.store.read
      .selectFrom('automation_events')
      .select((eb) => eb.fn.countAll<number>().as('kept'))
      .executeTakeFirstOrThrow()
    t.ok(kept > 500 && kept <= 551, `${kept}`)
    await rig.work()
    await rig.pass(dayMs)
    t.match(await rig.run(run), { status: 'completed' })
  },
)

t.test('automations that set each other off by their mail end at five in a row', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('first')])
  const loop = await rig.enabled([trigger('$email.clicked'), send('again')], {}, 'Again')
  await rig.start()
  await rig.work()
  for (let click = 1; click <= 8; click += 1) {
    await rig.clock.advance(60_000)
    await land(rig, 'clicked')
    await rig.work()
  }
  t.match(await rig.automation(loop), { completed: 5 })
  const depths = await rig.store.read
    .selectFrom('automation_events')
    .select('depth')
    .where('name', '=', '$email.clicked')
    .orderBy('id')
    .execute()
  // The mail that the sixth would have sent is none: the rest are clicks in the fifth's.
  t.same(
    depths.map(({ depth }) => depth),
    [1, 2, 3, 4, 5, 6, 6, 6],
  )
  await rig.start()
  await rig.work()
  await land(rig, 'clicked')
  await rig.work()
  t.match(await rig.automation(loop), { completed: 6 }, 'it is by what began it')
})

t.test('an event that has ended a wait is kept until the run has gone on', async (t) => {
  const rig = await openEngine(t)
  const filter = { field: 'event.total', operator: 'eq', value: 5 }
  await rig.enabled([trigger(), wait('paid', 'paid', { filter, timeout: 'P1D' }), send('thanks')])
  const run = await rig.start()
  await rig.work()
  t.equal((await rig.event({ event: 'paid', payload: { total: 5 } })).resumed, 1)
  const { acceptEvents } = await import('../../src/automations/index.js')
  const many = Array.from({ length: 100 }, () => ({ event: 'paid', email: 'ann@example.com' }))
  for (let n = 0; n < 7; n++) await acceptEvents(rig.accepting, await rig.billing(), many)
  await rig.work()
  t.equal(await rig.story(run), 'start started, paid received, thanks sent')
})
