import t from 'tap'
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

t.test('a run goes from step to step, and each is counted once', async (t) => {
  const rig = await openEngine(t)
  await rig.saveTemplate('hello', { subject: 'Hi {{ contact.firstName | default: "you" }}' })
  const id = await rig.enabled([
    trigger(),
    send('first', { type: 'transactional' }),
    delay('pause', 'P2D'),
    send('second', {
      subject: '{{ firstName }} of {{ city }}: {{ code }}',
      variables: { code: { var: 'contact.metadata.city' } },
    }),
    exit(),
  ])
  await rig.add('ann@example.com', { firstName: 'Ann', metadata: { city: 'Rome', code: 'own' } })
  const run = await rig.start()
  await rig.work()
  t.match(await rig.run(run), {
    status: 'waiting',
    currentStep: 'pause',
    waitingFor: { kind: 'delay', until: rig.clock.now() + 2 * dayMs },
  })
  await rig.pass(2 * dayMs - 1)
  t.equal(await rig.story(run), 'start started, first sent')
  await rig.pass(1)
  t.equal(
    await rig.story(run),
    'start started, first sent, pause waited, second sent, end ended:exit_step',
  )
  t.match(await rig.run(run), { status: 'completed', reason: 'exit_step', waitingFor: null })
  const mails = await rig.mails()
  t.match(mails, [
    { type: 'transactional', class: 0, subject: 'Hi Ann' },
    { type: 'marketing', class: 1, subject: 'Ann of Rome: Rome' },
  ])
  t.equal(rig.deps.backlog.size, 2)
  t.same(
    rig.rung.map(({ lane, class: of }) => [lane, of]),
    [
      ['example.com', 0],
      ['example.com', 1],
    ],
  )
  const steps = await rig.store.read
    .selectFrom('automation_steps')
    .select(['key', 'entered', 'done', 'mails'])
    .orderBy('id')
    .execute()
  t.same(
    steps.map(({ key, entered, done, mails }) => [key, entered, done, mails]),
    [
      ['start', 1, 1, 0],
      ['first', 1, 1, 1],
      ['pause', 1, 1, 0],
      ['second', 1, 1, 1],
      ['end', 1, 1, 0],
    ],
  )
  t.match(await rig.automation(id), { enrolled: 1 })
  await rig.counted(id)
  const usage = await rig.store.read.selectFrom('usage').selectAll().execute()
  t.equal(
    usage.reduce((sum, row) => sum + row.mails, 0),
    2,
    'a month and a day',
  )
  t.equal(
    usage.reduce((sum, row) => sum + row.campaign_mails, 0),
    2,
  )
  const bodies = await rig.store.read.selectFrom('bodies').select('id').execute()
  t.equal(bodies.length, 1, 'one body for all mails of a version')
})

t.test('a wait hears what came since the run began, each event once, or times out', async (t) => {
  const rig = await openEngine(t)
  const steps = [
    trigger(),
    wait('first', 'paid', { timeout: 'P1D' }),
    wait('second', 'paid', { timeout: 'P1D' }),
    send('thanks'),
    send('reminder'),
  ]
  const on = (from: string, to: string, type: string) => ({ from, to, type })
  const connections = [
    on('start', 'first', 'default'),
    on('first', 'second', 'event_received'),
    on('second', 'thanks', 'event_received'),
    on('second', 'reminder', 'timeout'),
  ]
  const id = await rig.enabled(steps, { connections })
  await rig.event({ event: 'paid' })
  const run = await rig.start()
  // Before the engine has looked at the run at all.
  t.equal((await rig.event({ event: 'paid' })).resumed, 0)
  await rig.work()
  t.equal(await rig.story(run), 'start started, first received')
  t.match(await rig.run(run), {
    currentStep: 'second',
    waitingFor: { kind: 'event', event: 'paid' },
  })
  t.equal((await rig.event({ event: 'paid', email: 'bob@example.com' })).resumed, 0)
  t.equal((await rig.event({ event: 'paid' })).resumed, 1)
  await rig.work()
  t.equal(await rig.story(run), 'start started, first received, second received, thanks sent')
  const late = await rig.start()
  await rig.event({ event: 'paid' })
  await rig.work()
  await rig.pass(dayMs)
  t.equal(await rig.story(late), 'start started, first received, second timed_out, reminder sent')
  const silent = await rig.start()
  await rig.work()
  await rig.pass(dayMs)
  t.match(await rig.run(silent), { status: 'exited', reason: 'timed_out' })
  await rig.counted(id)
})

t.test('conditions, updates and splits see what is known', async (t) => {
  const rig = await openEngine(t)
  const steps = [
    trigger(),
    {
      key: 'note',
      type: 'contact_update',
      config: {
        firstName: { var: 'trigger.name' },
        metadata: { plan: { var: 'trigger.plan' }, old: null },
      },
    },
    {
      key: 'pro',
      type: 'condition',
      config: { field: 'contact.metadata.plan', operator: 'eq', value: 'pro' },
    },
    {
      key: 'arm',
      type: 'split',
      config: {
        branches: [
          { key: 'all', percent: 99.9 },
          { key: 'none', percent: 0.1 },
        ],
      },
    },
    send('mail'),
  ]
  const connections = [
    { from: 'start', to: 'note', type: 'default' },
    { from: 'note', to: 'pro', type: 'default' },
    { from: 'pro', to: 'arm', type: 'condition_met' },
    { from: 'arm', to: 'mail', type: 'branch', branch: 'all' },
    { from: 'arm', to: 'mail', type: 'branch', branch: 'none' },
  ]
  await rig.enabled(steps, { connections })
  const ann = await rig.add('ann@example.com', { metadata: { old: 1, kept: 2 } })
  const run = await rig.start({ payload: { name: 'Ann', plan: 'pro' } })
  const other = await rig.start({ email: 'bob@example.com', payload: { plan: 'free' } })
  await rig.work()
  t.equal(await rig.story(run), 'start started, note updated, pro met, arm branch:all, mail sent')
  t.match(await rig.run(other), { status: 'completed' })
  t.equal(await rig.story(other), 'start started, note updated, pro not_met')
  const row = await rig.store.read
    .selectFrom('contacts')
    .select(['first_name', 'name_key', 'metadata'])
    .where('id', '=', ann.id)
    .executeTakeFirstOrThrow()
  t.equal(row.first_name, 'Ann')
  t.equal(row.name_key, 'ann', 'by which they are found')
  t.same(JSON.parse(row.metadata ?? ''), { kept: 2, plan: 'pro' })
})

t.test('what cannot be taken yet waits with its reason, and goes on by itself', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), send('mail')])
  const { store } = rig
  const subscription = (change: object) =>
    store.write((tx) => tx.updateTable('subscriptions').set(change).execute())
  const domain = (status: 'pending' | 'verified') =>
    store.write((tx) => tx.updateTable('domains').set({ status }).execute())

  await subscription({ marketing_paused: 'complaint' })
  const run = await rig.start()
  await rig.work()
  t.match(await rig.run(run), {
    status: 'waiting',
    currentStep: 'mail',
    waitingFor: { kind: 'paused', until: rig.clock.now() + 5 * minuteMs },
  })
  await subscription({ marketing_paused: null })
  await domain('pending')
  await rig.pass(5 * minuteMs)
  t.match(await rig.run(run), { waitingFor: { kind: 'domain' } })
  await rig.pass(5 * minuteMs)
  await domain('verified')
  await rig.clock.advance(5 * minuteMs)
  await rig.work({ maxQueued: 0 })
  t.match(await rig.run(run), { waitingFor: { kind: 'queue_full' } })
  t.same(await rig.mails(), [])
  await rig.pass(minuteMs)
  t.equal(
    await rig.story(run),
    'start started, mail blocked:paused, mail blocked:domain, mail blocked:queue_full, mail sent',
  )
  await rig.counted(id)
})

t.test('while its domain is not verified a mail waits, and leaves once it is', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), send('mail'), delay('pause', 'P1D')])
  const domain = (status: 'pending' | 'verified') =>
    rig.store.write((tx) => tx.updateTable('domains').set({ status }).execute())
  await domain('pending')
  const run = await rig.start()
  for (let minute = 0; minute < 180; minute += 1) await rig.pass(minuteMs)
  t.same(await rig.mails(), [])
  t.equal(await rig.story(run), 'start started, mail blocked:domain', 'which is said once')
  const { waitingFor, status } = await rig.run(run)
  t.match({ waitingFor, status }, { status: 'waiting', waitingFor: { kind: 'domain' } })
  await domain('verified')
  for (let minute = 0; minute < 5; minute += 1) await rig.pass(minuteMs)
  t.equal((await rig.mails()).length, 1)
  t.equal(await rig.story(run), 'start started, mail blocked:domain, mail sent')
  await rig.counted(id)
})

t.test('a quota that is reached in the middle of a batch is met exactly', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const free = 'Free'
  const { findPlan, setPlan } = await import('../../src/billing/index.js')
  const { plans } = await import('../support/campaigns.js')
  await store.write((tx) => setPlan(tx, accountId, findPlan(plans.email, free)))
  const id = await rig.enabled([trigger(), send('mail', { type: 'transactional' })])
  const daily = findPlan(plans.email, free).dailyLimit ?? 0
  for (let n = 0; n < daily + 5; n++) await rig.event({ email: `p${n}@example.com` })
  await rig.work()
  t.equal((await rig.mails()).length, daily)
  t.match(await rig.automation(id), { completed: daily, waiting: 5 })
  const midnight = Math.floor(rig.clock.now() / dayMs + 1) * dayMs
  const waiting = await store.read
    .selectFrom('automation_live')
    .select(['blocked', 'due_at'])
    .execute()
  const soon = Math.min(midnight, rig.clock.now() + hourMs)
  for (const row of waiting) t.same(row, { blocked: 'quota', due_at: soon })
  await rig.pass(midnight - rig.clock.now())
  t.equal((await rig.mails()).length, daily + 5)
  await rig.counted(id)
})

t.test('runs that wait for a quota go on within the hour once the plan is larger', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const { findPlan, setPlan } = await import('../../src/billing/index.js')
  const { plans } = await import('../support/campaigns.js')
  const give = (name: string) =>
    store.write((tx) => setPlan(tx, accountId, findPlan(plans.email, name)))
  await give('Free')
  await rig.enabled([trigger(), send('mail', { type: 'transactional' })])
  const { dailyLimit, monthlyLimit } = findPlan(plans.email, 'Free')
  for (let n = 0; n < (dailyLimit ?? 0); n++) await rig.event({ email: `p${n}@example.com` })
  const run = await rig.start()
  await rig.work()
  await store.write((tx) =>
    tx
      .updateTable('usage')
      .set({ mails: monthlyLimit ?? 0 })
      .where('account_id', '=', accountId)
      .execute(),
  )
  await rig.pass(hourMs)
  t.match(await rig.run(run), { waitingFor: { kind: 'quota', until: rig.clock.now() + hourMs } })
  await give('Unlimited')
  await rig.pass(hourMs)
  t.match(await rig.run(run), { status: 'completed' })
  t.equal(await rig.story(run), 'start started, mail blocked:quota, mail sent')
})

t.test('mails an hour are bounded, and a send window is kept', async (t) => {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), send('mail')], { settings: { maxPerHour: 2 } })
  for (let n = 0; n < 5; n++) await rig.event({ email: `p${n}@example.com` })
  await rig.work()
  t.equal((await rig.mails()).length, 2)
  await rig.pass(hourMs)
  t.equal((await rig.mails()).length, 4)
  await rig.pass(hourMs)
  t.equal((await rig.mails()).length, 5)
  // It is the afternoon.
  const sendWindow = { from: '09:00', to: '10:00', zone: 'UTC' }
  await rig.enabled([trigger('later'), send('mail')], { settings: { sendWindow } })
  const run = await rig.start({ event: 'later' })
  await rig.work()
  const { waitingFor } = await rig.run(run)
  t.match(waitingFor, { kind: 'window' })
  t.equal(new Date(waitingFor?.until ?? 0).toISOString().slice(11, 16), '09:00')
  await rig.pass((waitingFor?.until ?? 0) - rig.clock.now())
  t.match(await rig.run(run), { status: 'completed' })
})

t.test('a template that is gone or does not render fails its run, and no other', async (t) => {
  const rig = await openEngine(t)
  await rig.saveTemplate('named', { html: '<p>{{ trigger.name }}</p>' })
  await rig.saveTemplate('complex', { html: '<p>{{ trigger.name | upcase }}</p>' })
  const { deleteTemplate } = await import('../../src/templates/index.js')
  await rig.saveTemplate('gone')
  await rig.enabled([trigger('plain'), send('mail', { template: 'named' })])
  await rig.enabled([trigger('engine'), send('mail', { template: 'complex' })])
  await rig.enabled([trigger('lost'), send('mail', { template: 'gone' })])
  await deleteTemplate(rig, rig.accountId, 'gone')
  const good = { name: 'Ann' }
  const runs = {
    plain: await rig.start({ event: 'plain', payload: good }),
    engine: await rig.start({ event: 'engine', payload: good }),
    lost: await rig.start({ event: 'lost' }),
    plainBad: await rig.start({ event: 'plain', email: 'b@example.com' }),
    engineBad: await rig.start({ event: 'engine', email: 'b@example.com' }),
  }
  await rig.work()
  t.match(await rig.run(runs.plain), { status: 'completed' })
  t.match(await rig.run(runs.engine), { status: 'completed' })
  t.match(await rig.run(runs.lost), { status: 'failed', reason: 'template_missing' })
  t.match(await rig.run(runs.plainBad), { status: 'failed', reason: /trigger\.name is missing/ })
  t.match(await rig.run(runs.engineBad), { status: 'failed', reason: /trigger\.name.* is missing/ })
  t.equal((await rig.mails()).length, 2)
})

t.test('an account whose automation breaks holds up no other run', async (t) => {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
  const broken = await rig.start({ email: 'broken@example.com' })
  const run = await rig.start()
  await rig.store.write((tx) =>
    tx.updateTable('automation_live').set({ history: '{' }).where('id', '=', broken).execute(),
  )
  await rig.work()
  t.match(await rig.run(run), { currentStep: 'pause' })
  const attempts = async () =>
    (
      await rig.store.read
        .selectFrom('automation_live')
        .select('attempts')
        .where('id', '=', broken)
        .executeTakeFirst()
    )?.attempts
  t.equal(await attempts(), 1)
  await rig.store.write((tx) =>
    tx.updateTable('automation_live').set({ history: '[]' }).where('id', '=', broken).execute(),
  )
  await rig.pass(minuteMs)
  t.match(await rig.run(broken), { currentStep: 'pause', status: 'waiting' })
  t.equal(await attempts(), 0)
  await rig.counted(id)
})
