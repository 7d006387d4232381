import t from 'tap'
import { deleteContact, removeFromList } from '../../src/contacts/index.js'
import { stopAtDeparture } from '../../src/outbound/attempt/departure.js'
import { suppress } from '../../src/suppression/index.js'
import type { Renderer, RenderJob } from '../../src/templates/index.js'
import { createTopic, optOut } from '../../src/topics/index.js'
import { dayMs, delay, openEngine, send, trigger, wait } from '../support/automation-rig.js'

const address = 'ann@example.com'

t.test(
  'who unsubscribes, bounces, complains or is suppressed leaves in that very write',
  async (t) => {
    for (const [reason, told] of [
      ['unsubscribe', 'unsubscribed'],
      ['bounce', 'bounced'],
      ['complaint', 'complained'],
      ['manual', 'suppressed'],
    ] as const) {
      const rig = await openEngine(t)
      const id = await rig.enabled([trigger(), send('one'), delay('pause', 'P1D'), send('two')])
      const run = await rig.start()
      await rig.work()
      await rig.store.write(async (tx) => {
        await suppress(tx, rig.accountId, { email: address.toUpperCase(), reason }, rig.clock.now())
        const live = await tx.selectFrom('automation_live').select('id').execute()
        t.same(live, [], 'in the same transaction')
      })
      t.match(await rig.run(run), { status: 'exited', reason: told })
      t.equal(await rig.story(run), `start started, one sent, pause ended:${told}`)
      await rig.pass(dayMs)
      t.equal((await rig.mails()).length, 1)
      t.match((await rig.event()).automations, [
        { started: false, runId: null, reason: 'suppressed' },
      ])
      await rig.counted(id)
    }
  },
)

t.test(
  'an automation of transactional mail may outlive an unsubscribe, and nothing else',
  async (t) => {
    const rig = await openEngine(t)
    const mail = (key: string) => send(key, { type: 'transactional' })
    await rig.enabled([trigger(), mail('one'), delay('pause', 'P1D'), mail('two')], {
      settings: { onUnsubscribe: 'continue' },
    })
    const run = await rig.start()
    await rig.work()
    const left = (reason: 'unsubscribe' | 'complaint') =>
      rig.store.write((tx) =>
        suppress(tx, rig.accountId, { email: address, reason }, rig.clock.now()),
      )
    await left('unsubscribe')
    await rig.pass(dayMs)
    t.match(await rig.run(run), { status: 'completed' })
    t.equal((await rig.mails()).length, 2)
    const again = await rig.start()
    await rig.work()
    await left('complaint')
    t.match(await rig.run(again), { status: 'exited', reason: 'complained' })
  },
)

t.test('who has left a topic gets none of its mail, and goes on', async (t) => {
  const rig = await openEngine(t)
  const { id: topicId } = await createTopic(rig, rig.accountId, { name: 'Offers' })
  await rig.enabled([trigger(), send('offer', { topicId }), send('news')])
  const gone = { topicId, address }
  await rig.store.write((tx) => optOut(tx, rig.accountId, gone, rig.clock.now()))
  const run = await rig.start()
  await rig.work()
  t.equal(await rig.story(run), 'start started, offer skipped:left_topic, news sent')
})

t.test('who leaves between plan and write gets nothing', async (t) => {
  const rig = await openEngine(t)
  const { id: topicId } = await createTopic(rig, rig.accountId, { name: 'Offers' })
  await rig.saveTemplate('hello', { html: '<p>{{ contact.email | upcase }}</p>' })
  await rig.enabled([trigger(), send('offer', { topicId }), delay('pause', 'P1D')])
  const run = await rig.start()
  const { renderer, accountId } = rig
  let leaves = true
  await rig.work({
    renderer: {
      ...renderer,
      render: (async (job: RenderJob) => {
        // Rendering lies between what is read and what is written.
        if (leaves) {
          const gone = { topicId, address }
          await rig.store.write((tx) => optOut(tx, accountId, gone, rig.clock.now()))
        }
        leaves = false
        return await renderer.render(job)
      }) as Renderer['render'],
    },
  })
  t.same(await rig.mails(), [])
  await rig.pass(60_000)
  t.equal(await rig.story(run), 'start started, offer skipped:left_topic')
})

t.test('a contact who is deleted is gone from everything but the figures', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, listId } = rig
  const settings = { exitOn: [{ eventName: 'stop' }] }
  await rig.saveTemplate('hello', { subject: 'Hi {{ contact.email }}' })
  const id = await rig.enabled([trigger(), send('one'), wait('paid', 'paid'), send('two')], {
    settings,
  })
  await rig.enabled([trigger('other'), delay('pause', 'P1D')], {}, 'Other')
  const ann = await rig.add(address)
  const ended = await rig.start()
  await rig.work()
  await rig.event({ event: 'stop' })
  t.match(await rig.run(ended), { status: 'exited', reason: 'exit_rule', email: address })
  const run = await rig.start()
  await rig.start({ event: 'other' })
  await rig.work()
  // More than one write takes away.
  await store.write(async (tx) => {
    for (let n = 0; n < 2_500; n++) {
      const event = {
        id: 1_000 + n,
        account_id: accountId,
        contact_id: ann.id,
        name: `e${n % 9}`,
        at: 0,
        depth: 0,
      }
      await tx.insertInto('automation_events').values(event).execute()
    }
  })
  const before = await rig.automation(id)
  await removeFromList(rig, accountId, listId, ann.id)
  const rows = async (table: 'automation_live' | 'automation_events' | 'automation_entries') =>
    (await store.read.selectFrom(table).select('contact_id').execute()).length
  t.equal(await rows('automation_live'), 0)
  t.equal(await rows('automation_entries'), 0)
  const { forgetMore } = await import('../../src/runs/index.js')
  while (await store.write((tx) => forgetMore(tx)));
  t.equal(await rows('automation_events'), 0)
  t.same(await store.read.selectFrom('email_merges').selectAll().execute(), [])
  t.same(await store.read.selectFrom('automation_listens').selectAll().execute(), [])
  for (const one of [run, ended]) {
    t.match(await rig.run(one), { contactId: null, email: null, history: [], status: 'exited' })
  }
  t.match(await rig.run(run), { reason: 'deleted' })
  t.match(await rig.automation(id), { enrolled: before.enrolled, exited: before.exited + 1 })
  await rig.counted(id)
})

t.test('who leaves while a mail waits in the queue does not get it', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId, listId } = rig
  await rig.enabled([trigger(), send('mail')])
  await rig.enabled([trigger('other'), send('mail', { type: 'transactional' })])
  const ann = await rig.add(address)
  await rig.start()
  await rig.start({ event: 'other' })
  await rig.work()
  const rows = await store.read.selectFrom('queue').selectAll().orderBy('id').execute()
  const stops = () =>
    Promise.all(
      rows.map(async (row) => {
        const claimed = { ...row, emailId: row.email_id, accountId, dueAt: 0, expiresAt: 0 }
        return (await stopAtDeparture(store.read, [claimed]))[0]?.kind
      }),
    )
  t.same(
    rows.map((row) => row.class),
    [1, 0],
  )
  t.same(await stops(), [undefined, undefined])
  await store.write((tx) =>
    suppress(tx, accountId, { email: address, reason: 'unsubscribe' }, rig.clock.now()),
  )
  t.same(await stops(), ['suppressed', undefined], 'an unsubscribe is from marketing alone')
  await store.write((tx) => tx.deleteFrom('suppressions').execute())
  await removeFromList(rig, accountId, listId, ann.id)
  t.same(await stops(), ['suppressed', undefined])
})

t.test('a contact whom an event has made, and who is on no list, can be deleted', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const id = await rig.enabled([trigger(), delay('pause', 'P1D'), send('mail')])
  const run = await rig.start({ payload: { secret: 1 } })
  await rig.work()
  const bob = await rig.add('bob@example.com')
  await t.rejects(deleteContact(rig, accountId, 'cid@example.com'), { code: 'not_found' })
  await deleteContact(rig, accountId, 'ANN@example.com')
  t.match(await rig.run(run), { status: 'exited', reason: 'deleted', contactId: null })
  t.same(await store.read.selectFrom('automation_events').selectAll().execute(), [])
  t.match(await deleteContact(rig, accountId, 'bob@example.com'), { id: bob.id })
  const totals = await store.read.selectFrom('contact_totals').selectAll().execute()
  t.match(totals, [{ contacts: 0 }])
  t.match(await store.read.selectFrom('contact_lists').selectAll().execute(), [
    { contact_count: 0 },
  ])
  await rig.pass(dayMs)
  t.equal((await rig.mails()).length, 0)
  await rig.counted(id)
})
