import t from 'tap'
import { readBilling, readUsage } from '../../src/billing/index.js'
import {
  cancelBroadcast,
  cancelRest,
  pauseBroadcast,
  resumeBroadcast,
  sendDraft,
  stopBroadcast,
} from '../../src/broadcasts/index.js'
import { createTopic, updateTopic } from '../../src/topics/index.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

const why = { reason: 'paused by ops' }

t.test('a pause stops the expansion and holds what waits; a resume lets all go on', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  const { store } = rig
  await rig.addMany(600)
  const made = await rig.create()
  // The job is stopped after the first transaction.
  const stop = new AbortController()
  await rig.expand(
    { backlog: { ...rig.backlog, size: 0, change: () => stop.abort() } },
    stop.signal,
  )
  t.match(await rig.find(made.id), { recipients: 500, expanded: 0 })
  const paused = pauseBroadcast(rig, made, why)
  while ((await rig.find(made.id)).status !== 'paused') await clock.advance(10)
  await rig.expand()
  t.same(await paused, { held: 500, inFlight: 0 })
  t.match(await rig.find(made.id), { status: 'paused', reason: 'paused by ops', recipients: 500 })
  t.same(await rig.deliver(() => 'delivered'), [], 'none can be claimed')
  await resumeBroadcast(rig, made)
  await rig.expand()
  t.match(await rig.find(made.id), { status: 'sending', reason: null, recipients: 600 })
  t.equal((await rig.deliver(() => 'delivered')).length, 600)
  t.match(await rig.find(made.id), { status: 'sent', delivered: 600, waiting: 0 })
  const held = await store.read.selectFrom('queue').select('id').execute()
  t.same(held, [])
})

t.test('what is paused does not go on while its topic is archived', async (t) => {
  const rig = await openCampaigns(t)
  const { accountId } = rig
  await rig.addMany(2)
  const { id: topicId } = await createTopic(rig, accountId, { name: 'Offers' })
  const made = await rig.create({ topicId })
  await rig.expand()
  await pauseBroadcast(rig, made, why)
  await updateTopic(rig, accountId, topicId, { archived: true })
  await t.rejects(resumeBroadcast(rig, made), {
    message: 'The topic "Offers" is archived; restore it to send on it',
  })
  t.match(await rig.find(made.id), { status: 'paused' })
  t.same(await rig.deliver(() => 'delivered'), [])
  await updateTopic(rig, accountId, topicId, { archived: false })
  t.same(await resumeBroadcast(rig, made), { released: 2 })
})

t.test('a pause leaves what another operator holds alone', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(2)
  const made = await rig.create()
  await rig.expand()
  const [one] = await rig.store.read.selectFrom('queue').selectAll().execute()
  const held = { held_at: 1, held_reason: 'by hand', held_due_at: 1, due_at: 9e14 }
  await rig.store.write((tx) =>
    tx
      .updateTable('queue')
      .set(held)
      .where('id', '=', one?.id ?? 0)
      .execute(),
  )
  t.same(await pauseBroadcast(rig, made, why), { held: 1, inFlight: 0 })
  t.same(await resumeBroadcast(rig, made), { released: 1 })
  const [still] = await rig.store.read
    .selectFrom('queue')
    .select('held_reason')
    .where('held_at', 'is not', null)
    .execute()
  t.same(still, { held_reason: 'by hand' })
})

t.test(
  'drafts and scheduled campaigns are cancelled, and of others only what has not left',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(20)
    const draft = await rig.create({}, { draft: true })
    t.match(draft, { status: 'draft', sent_at: null, audience: 20 })
    await rig.expand()
    t.same(await rig.recipients(), [], 'a draft is not sent')
    await cancelBroadcast(rig, rig.accountId, draft.id)
    const scheduledAt = new Date(clock.now() + 1_000).toISOString()
    const scheduled = await rig.create({ scheduledAt })
    await cancelBroadcast(rig, rig.accountId, scheduled.id)
    await clock.advance(2_000)
    await rig.expand()
    t.same(await rig.recipients(), [], 'nor one that was cancelled')
    const conflict = { code: 'conflict', status: 409 }
    await t.rejects(cancelBroadcast(rig, rig.accountId, draft.id), conflict)

    const sending = await rig.create()
    await t.rejects(cancelBroadcast(rig, rig.accountId, sending.id), conflict)
    await rig.expand()
    let left = 5
    const delivered = await rig.deliver(() => (left-- > 0 ? 'delivered' : 'deferred'))
    t.equal(delivered.length, 20)
    await pauseBroadcast(rig, sending, why)
    await t.rejects(cancelBroadcast(rig, rig.accountId, sending.id), conflict)
    await cancelRest(rig, rig.accountId, sending.id)
    t.match(await rig.find(sending.id), {
      status: 'cancelled',
      delivered: 5,
      cancelled: 15,
      waiting: 0,
      ended_at: clock.now(),
    })
    const mails = await rig.store.read
      .selectFrom('emails')
      .select((eb) => ['status', eb.fn.countAll<number>().as('mails')])
      .groupBy('status')
      .orderBy('status')
      .execute()
    t.same(mails, [
      { status: 'cancelled', mails: 15 },
      { status: 'delivered', mails: 5 },
    ])
    await t.rejects(resumeBroadcast(rig, sending), /cancelled cannot be resumed/)
    await t.rejects(pauseBroadcast(rig, sending, why), /cancelled cannot be paused/)
    t.same(await stopBroadcast(rig, sending), { cancelled: 0, inFlight: 0 })
  },
)

t.test('a draft is sent once', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(3)
  const draft = await rig.create({}, { draft: true })
  const billing = await readBilling(rig.store.read, plans, rig.accountId)
  const both = await Promise.allSettled([
    sendDraft(rig.deps, billing, draft.id),
    sendDraft(rig.deps, billing, draft.id),
  ])
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await rig.expand()
  t.equal((await rig.recipients()).length, 3)
})

t.test('what a cancelled campaign was counted for and never made is given back', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(4)
  const used = async () =>
    (await readUsage(rig.store.read, rig.accountId, rig.clock.now())).monthCampaignMails
  const first = await rig.create()
  await rig.expand()
  const second = await rig.create()
  t.equal(await used(), 8)
  await stopBroadcast(rig, second)
  t.equal(await used(), 4)
  await stopBroadcast(rig, second)
  await stopBroadcast(rig, first)
  t.equal(await used(), 4, 'what was made stays counted')
})

t.test('a draft waits for its time, and for a sender that is still verified', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(1)
  const scheduledAt = new Date(rig.clock.now() + 60_000).toISOString()
  const draft = await rig.create({ scheduledAt }, { draft: true })
  const billing = await readBilling(rig.store.read, plans, rig.accountId)
  const send = () => sendDraft(rig.deps, billing, draft.id)
  const domains = (status: 'pending' | 'verified') =>
    rig.store.write((tx) => tx.updateTable('domains').set({ status }).execute())
  await domains('pending')
  await t.rejects(send(), { code: 'domain_not_verified' })
  await domains('verified')
  t.match(await send(), { status: 'scheduled', audience: 1, sent_at: null })
  await rig.expand()
  t.same(await rig.recipients(), [])
})
