import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { pauseSending, readUsage, setMarketingPlan } from '../../src/billing/index.js'
import {
  campaignsWait,
  countAudience,
  ofList,
  pauseBroadcast,
  resumeBroadcast,
} from '../../src/broadcasts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { makeTurns } from '../../src/store/index.js'
import { suppress } from '../../src/suppression/index.js'
import { createTopic, optOut, updateTopic } from '../../src/topics/index.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { countStatements } from '../support/statements.js'
import { makeTempDir, openTestStore } from '../support/store.js'

t.test('everybody who is reachable gets one mail, with the next free cursor', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(600)
  const made = await rig.create({
    subject: 'Hi {{ firstName | default: "you" }}',
    replyTo: 'r@x.test',
  })
  t.match(made, { status: 'sending', audience: 600, recipients: 0, sent_at: rig.clock.now() })
  await rig.expand()
  t.match(await rig.find(made.id), {
    status: 'sending',
    expanded: 1,
    recipients: 600,
    waiting: 600,
    audience: 600,
  })
  const recipients = await rig.recipients()
  t.equal(new Set(recipients).size, 600)
  t.equal(rig.backlog.size, 600, 'the queue knows of them')
  t.same(
    [...new Set(rig.rung.map(({ lane }) => lane))].sort(),
    [0, 1, 2, 3, 4].map((n) => `d${n}.test`),
  )
  const mail = await rig.store.read.selectFrom('emails').selectAll().executeTakeFirstOrThrow()
  t.match(mail, {
    broadcast_id: made.id,
    type: 'marketing',
    status: 'queued',
    waiting: 1,
    subject: 'Hi you',
    from_header: 'News <news@sender.test>',
    reply_to: 'r@x.test',
    body_id: made.body_id,
    message_id: `<${mail.id}@sender.test>`,
    created_at: rig.clock.now(),
  })
  t.same(JSON.parse(mail.to_list).length, 1)
  const bodies = await rig.store.read.selectFrom('bodies').select('id').execute()
  t.equal(bodies.length, 1, 'one body for all')
  await rig.expand()
  t.equal((await rig.recipients()).length, 600, 'again, nothing is left to do')
  t.equal(await campaignsWait(rig), false)
})

t.test('two that expand a campaign at once make each mail once, and count it once', async (t) => {
  const clock = new FakeClock()
  const shared = { clock, dataDir: makeTempDir(t), turns: makeTurns() }
  const store = await openTestStore(t, shared)
  const other = await openTestStore(t, { ...shared, slot: 2 })
  const { id: accountId } = await createAccount({ store, clock }, 'City')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, accountId, 'sender.test', { trust: true })
  const rig = await openCampaigns(t, { store, accountId, clock })
  await rig.addMany(600)
  const { id } = await rig.create()
  const gone = { email: 'p7@d2.test', reason: 'bounce', emailId: null, detail: null } as const
  await store.write((tx) => suppress(tx, accountId, gone, clock.now()))
  await Promise.all([rig.expand(), rig.expand({ store: other })])
  const recipients = await rig.recipients()
  t.equal(recipients.length, 599)
  t.equal(new Set(recipients).size, 599)
  t.match(await rig.find(id), { expanded: 1, recipients: 599, waiting: 599, audience: 600 })
  const { monthCampaignMails } = await readUsage(store.read, accountId, clock.now())
  t.equal(monthCampaignMails, 599, 'what nobody got was given back once')
})

t.test('subjects carry what is known of each, whatever their Liquid', async (t) => {
  const rig = await openCampaigns(t)
  await rig.add('ann@d.test', { firstName: 'Ann', metadata: { town: 'Lagos' } })
  await rig.add('bob@d.test')
  const subjectsOf = async (subject: string) => {
    const { id } = await rig.create({ subject })
    await rig.expand()
    const rows = await rig.store.read
      .selectFrom('emails')
      .select('subject')
      .where('broadcast_id', '=', id)
      .orderBy('to_list')
      .execute()
    return rows.map((row) => row.subject)
  }
  t.same(await subjectsOf('{{ firstName | default: "Hello" }} <3 {{town}}'), [
    'Ann <3 Lagos',
    'Hello <3',
  ])
  t.same(await subjectsOf('{% if firstName %}{{ firstName | upcase }}, {% endif %}news'), [
    'ANN, news',
    'news',
  ])
  await rig.add('eve@d.test', { firstName: 'x'.repeat(200), metadata: { long: 'y'.repeat(900) } })
  const [, , eve] = await subjectsOf('News {{firstName}}{{long}}')
  t.equal(eve, 'News', 'what would be no subject is as for a stranger')
})

t.test('who is suppressed or has left the topic gets nothing, and is not counted', async (t) => {
  const rig = await openCampaigns(t)
  const { store, accountId, listId, clock } = rig
  for (const name of ['a', 'b', 'c', 'd', 'e']) await rig.add(`${name}@d.test`)
  const topic = await createTopic(rig, accountId, { name: 'Offers' })
  await store.write(async (tx) => {
    const now = clock.now()
    await suppress(
      tx,
      accountId,
      { email: 'A@d.test', reason: 'bounce', emailId: null, detail: null },
      now,
    )
    await suppress(
      tx,
      accountId,
      { email: 'b@d.test', reason: 'unsubscribe', emailId: null, detail: null },
      now,
    )
    for (const address of ['b@d.test', 'c@d.test', 'z@elsewhere.test']) {
      await optOut(tx, accountId, { topicId: topic.id, address }, now)
    }
  })
  const audience = { accountId, whom: ofList(listId), topicId: null }
  t.match(await countAudience(store.read, audience), {
    fit: 5,
    reachable: 3,
    bounced: 1,
    unsubscribed: 1,
    leftTopic: 0,
  })
  const ofTopic = { ...audience, topicId: topic.id }
  t.match(await countAudience(store.read, ofTopic), { reachable: 2, leftTopic: 1 })
  await rig.create({ topicId: topic.id })
  await rig.expand()
  t.same((await rig.recipients()).sort(), ['d@d.test', 'e@d.test'])
  await rig.create()
  await rig.expand()
  t.same(
    (await rig.recipients()).sort(),
    ['c', 'd', 'd', 'e', 'e'].map((name) => `${name}@d.test`),
  )
})

t.test('nobody reachable, no plan, no sender: nothing is made', async (t) => {
  const rig = await openCampaigns(t)
  await t.rejects(rig.create(), {
    code: 'validation_error',
    status: 400,
    message: /Nobody on the list/,
  })
  await rig.add('a@d.test')
  await t.rejects(rig.create({ from: 'x@other.test' }), { code: 'domain_not_verified' })
  await t.rejects(rig.create({ html: '<p>{{ firstName</p>' }), {
    code: 'validation_error',
    status: 422,
  })
  await t.rejects(rig.create({ listId: rig.accountId }), { code: 'not_found' })
  await t.rejects(rig.create({ topicId: rig.accountId }), { code: 'not_found' })
  t.same(await rig.store.read.selectFrom('broadcasts').selectAll().execute(), [])
  t.same(await rig.store.read.selectFrom('bodies').selectAll().execute(), [])
})

t.test('a scheduled campaign goes to whom it reaches then', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(3)
  const at = new Date(clock.now() + 60_000).toISOString()
  const made = await rig.create({ scheduledAt: at })
  t.match(made, { status: 'scheduled', audience: 3, sent_at: null })
  await rig.expand()
  t.same(await rig.recipients(), [], 'not before its time')
  await rig.store.write((tx) =>
    suppress(
      tx,
      rig.accountId,
      { email: 'p0@d0.test', reason: 'complaint', emailId: null, detail: null },
      clock.now(),
    ),
  )
  await rig.add('late@d.test')
  await rig.add('later@d.test')
  await clock.advance(60_000)
  t.equal(await campaignsWait(rig), true)
  await rig.expand()
  t.match(await rig.find(made.id), {
    status: 'sending',
    audience: 4,
    recipients: 4,
    sent_at: clock.now(),
  })
  t.notOk((await rig.recipients()).includes('p0@d0.test'))
})

t.test('what cannot be dispatched has failed and says why; a paused account waits', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.add('a@d.test')
  const scheduledAt = new Date(clock.now() + 1_000).toISOString()
  const first = await rig.create({ scheduledAt })
  await rig.store.write((tx) => pauseSending(tx, rig.accountId, 'bounce'))
  await clock.advance(1_000)
  await rig.expand()
  t.match(await rig.find(first.id), { status: 'scheduled' })
  await rig.store.write((tx) =>
    tx.updateTable('subscriptions').set({ paused: null, marketing_plan_id: null }).execute(),
  )
  await rig.expand()
  t.match(await rig.find(first.id), { status: 'failed', reason: /needs a marketing plan/ })
})

t.test('a topic that is archived meanwhile is not sent on', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.add('a@d.test')
  const { id: topicId } = await createTopic(rig, rig.accountId, { name: 'Offers' })
  const scheduledAt = new Date(clock.now() + 1_000).toISOString()
  const { id } = await rig.create({ topicId, scheduledAt })
  await updateTopic(rig, rig.accountId, topicId, { archived: true })
  await clock.advance(1_000)
  await rig.expand()
  t.match(await rig.find(id), { status: 'failed', reason: /"Offers" is archived/ })
  t.same(await rig.recipients(), [])
})

t.test(
  'the free plan counts a campaign when it begins, and gives back what was not sent',
  async (t) => {
    const rig = await openCampaigns(t, { marketing: 'Marketing Free' })
    const { store, accountId, clock } = rig
    await rig.addMany(300)
    const used = async () =>
      (await readUsage(store.read, accountId, clock.now())).monthCampaignMails
    await rig.create()
    t.equal(await used(), 300)
    await store.write((tx) =>
      suppress(
        tx,
        accountId,
        { email: 'p7@d2.test', reason: 'bounce', emailId: null, detail: null },
        clock.now(),
      ),
    )
    await rig.expand()
    t.equal(await used(), 299)
    t.equal((await rig.recipients()).length, 299)
    for (let i = 0; i < 5; i++) await rig.create()
    await t.rejects(rig.create(), {
      code: 'plan_limit_exceeded',
      status: 402,
      fields: { limit: 2_000, used: 1_794, plan: 'Marketing Free' },
    })
    const inNextMonth = new Date(clock.now() + 20 * 86_400_000).toISOString()
    t.match(await rig.create({ scheduledAt: inNextMonth }), { status: 'scheduled' })
  },
)

t.test(
  'whoever joins the list after the dispatch counts too, and the plan must have room',
  async (t) => {
    const rig = await openCampaigns(t, { marketing: 'Marketing Free' })
    const { store, accountId, clock } = rig
    const used = async () =>
      (await readUsage(store.read, accountId, clock.now())).monthCampaignMails
    await rig.add('first@d.test')
    const made = await rig.create()
    await pauseBroadcast(rig, made, { reason: 'paused by the account', byAccount: true })
    await rig.addMany(149)
    await resumeBroadcast(rig, made, { byAccount: true })
    await rig.expand()
    t.equal(await used(), 150)
    t.match(await rig.find(made.id), { status: 'sending', recipients: 150, audience: 150 })

    // 1,950 are used: there is room for fifty of those who join while another is paused.
    await store.write((tx) =>
      tx
        .updateTable('usage')
        .set({ campaign_mails: 1_950 - 150 })
        .where('campaign_mails', '>', 0)
        .execute(),
    )
    const next = await rig.create()
    t.equal(await used(), 1_950)
    await pauseBroadcast(rig, next, { reason: 'paused by the account', byAccount: true })
    await rig.addMany(349)
    await resumeBroadcast(rig, next, { byAccount: true })
    await rig.expand()
    t.match(await rig.find(next.id), {
      status: 'paused',
      paused_by: 'account',
      recipients: 200,
      reason:
        '2000 of 2000 campaign mails of this month are used, and the list has grown since the campaign began: resume it with a larger plan, or next month',
    })
    t.equal(await used(), 2_000)
    await store.write((tx) =>
      setMarketingPlan(
        tx,
        accountId,
        plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null,
      ),
    )
    await resumeBroadcast(rig, next, { byAccount: true })
    await rig.expand()
    t.match(await rig.find(next.id), { status: 'sending', recipients: 350 })
  },
)

t.test('a full queue and a paused account hold the expansion up', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(10)
  await rig.create()
  const stop = new AbortController()
  rig.backlog.change(95)
  const waiting = rig.expand({ maxQueued: 100 }, stop.signal)
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(await rig.recipients(), [])
  stop.abort()
  await clock.advance(1_000)
  await waiting
  await rig.store.write((tx) => pauseSending(tx, rig.accountId, 'complaint'))
  await rig.expand()
  t.same(await rig.recipients(), [], 'it ends without doing anything')
})

t.test('campaigns are expanded in turn', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(600)
  const [one, two] = [await rig.create(), await rig.create()]
  await rig.expand()
  const order = await rig.store.read
    .selectFrom('queue')
    .innerJoin('emails', 'emails.id', 'queue.email_id')
    .select('broadcast_id')
    .orderBy('queue.id')
    .execute()
  t.equal(order.length, 1_200)
  t.equal(order[0]?.broadcast_id, one.id)
  t.equal(order[500]?.broadcast_id, two.id)
  t.equal(order[1_000]?.broadcast_id, one.id)
})

t.test(
  'a campaign without versions, rate, hours and own clocks asks for none of them',
  async (t) => {
    const campaigns = await openCampaigns(t)
    await campaigns.addMany(250)
    const { id } = await campaigns.create()
    const statements = countStatements(t)
    await campaigns.expand()
    t.match(await campaigns.find(id), { recipients: 250, expanded: 1 })
    const asked = [...statements.keys()].filter((text) =>
      /broadcast_(variants|tested|later)/.test(text),
    )
    t.same(asked, [])
  },
)
