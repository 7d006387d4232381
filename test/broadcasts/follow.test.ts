import t from 'tap'
import { followBroadcasts, ratesOf } from '../../src/broadcasts/index.js'
import { loadConfig } from '../../src/config/index.js'
import { bounceLate, type Claimed, confirmRelayed, findPast } from '../../src/deliveries/index.js'
import { type EventDetail, type MailEvent, makeLandEvents } from '../../src/events/index.js'
import { makeProtection } from '../../src/protection/index.js'
import { queueClass } from '../../src/store/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

t.test(
  'the counters say what became of each mail, and the last one ends the campaign',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(10)
    const { id } = await rig.create()
    await rig.expand()
    const kinds = ['delivered', 'delivered', 'bounced', 'failed', 'relayed', 'suppressed'] as const
    const kindOf = ({ recipient }: Claimed) => kinds[Number(recipient[1])] ?? 'deferred'
    await rig.deliver(kindOf)
    t.match(await rig.find(id), {
      status: 'sending',
      recipients: 10,
      waiting: 4,
      ended_at: null,
      delivered: 2,
      bounced: 1,
      failed: 1,
      relayed: 1,
      suppressed: 1,
    })
    await clock.advance(60_000)
    await rig.deliver(() => 'delivered')
    t.match(await rig.find(id), {
      status: 'sent',
      waiting: 0,
      delivered: 6,
      bounced: 1,
      ended_at: rig.clock.now(),
    })
  },
)

t.test('a campaign that is not expanded yet has not ended, whatever its mails have', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(550)
  const { id } = await rig.create()
  const stop = new AbortController()
  await rig.expand(
    { backlog: { ...rig.backlog, size: 0, change: () => stop.abort() } },
    stop.signal,
  )
  await rig.deliver(() => 'delivered')
  t.match(await rig.find(id), { status: 'sending', delivered: 500, waiting: 0 })
  await rig.expand()
  t.match(await rig.find(id), { status: 'sending', waiting: 50 })
  await rig.deliver(() => 'delivered')
  t.match(await rig.find(id), { status: 'sent', delivered: 550 })
})

t.test('a report that comes late moves a mail from one counter to another', async (t) => {
  const rig = await openCampaigns(t)
  const { store, land, clock } = rig
  await rig.addMany(2)
  const { id } = await rig.create()
  await rig.expand()
  const [one] = await rig.deliver(() => 'delivered')
  t.match(await rig.find(id), { status: 'sent', delivered: 2, bounced: 0 })
  await store.write(async (tx) => {
    const past = await findPast(tx, one?.id ?? 0)
    if (past === undefined) throw new Error('no past')
    await bounceLate(tx, past, { reply: '550 no', detail: {}, now: clock.now(), land })
  })
  t.match(await rig.find(id), { status: 'sent', delivered: 1, bounced: 1, waiting: 0 })
})

t.test('no rate is over 100 %, whatever bounces after it was opened', async (t) => {
  const rig = await openCampaigns(t)
  const { store, land, clock, accountId } = rig
  await rig.addMany(5)
  const { id } = await rig.create()
  await rig.expand()
  const kinds = ['delivered', 'delivered', 'relayed', 'failed', 'delivered'] as const
  const sent = await rig.deliver(({ recipient }) => kinds[Number(recipient[1])] ?? 'delivered')
  const visit = (mail: Claimed, type: 'opened' | 'clicked') =>
    store.write(async (tx) => {
      const at = clock.now()
      const { emailId, recipient, id: deliveryId } = mail
      await tx
        .updateTable('emails')
        .set({ [`${type}_at`]: at })
        .where('id', '=', emailId)
        .execute()
      const of = { accountId, emailId, deliveryId, recipient, class: queueClass.campaign }
      await land(tx, [{ ...of, type, at, reply: null, detail: { first: true } }])
    })
  const bounce = (mail: Claimed, detail: EventDetail) =>
    store.write(async (tx) => {
      const past = await findPast(tx, mail.id)
      if (past !== undefined)
        await bounceLate(tx, past, { reply: '5', detail, now: clock.now(), land })
    })
  const rates = async () => ratesOf(await rig.find(id))
  const of = (n: number) => sent.filter(({ recipient }) => Number(recipient[1]) === n)
  for (const mail of [0, 1, 2].flatMap(of)) await visit(mail, 'opened')
  t.match(await rates(), { openRate: 75, clickRate: 0 })
  // Two that were opened, one of them twice; a vague one must not take back what it is not in.
  for (const mail of of(0)) await bounce(mail, {})
  for (const mail of of(0)) await bounce(mail, { suppress: 'now' })
  for (const mail of of(2)) await bounce(mail, {})
  t.match(await rig.find(id), { delivered: 2, relayed: 0, bounced: 2, opened: 3 })
  t.match(
    await rates(),
    { openRate: 75 },
    'what bounced late is still one of those that were taken',
  )
  for (const mail of [1, 4].flatMap(of)) await bounce(mail, {})
  t.match(await rates(), { openRate: 75 })
  // A 250 that was lost: its server took the mail, and we gave it up.
  for (const mail of [3, 4].flatMap(of)) await visit(mail, 'opened')
  for (const mail of sent) await visit(mail, 'clicked')
  t.match(await rates(), { openRate: 100, clickRate: 100 })
})

t.test('a report that comes after the log has forgotten counts as before', async (t) => {
  const rig = await openCampaigns(t)
  const { store, clock } = rig
  const land = makeLandEvents([
    followBroadcasts,
    makeProtection(loadConfig({ env: {} }).protection),
  ])
  await rig.addMany(3)
  const { id } = await rig.create()
  await rig.expand()
  const sent = await rig.deliver(({ recipient }) =>
    recipient[1] === '1' ? 'relayed' : 'delivered',
  )
  const [one, two] = ['0', '1'].map((n) => sent.find(({ recipient }) => recipient[1] === n))
  await store.write((tx) => tx.deleteFrom('events').execute())
  const change = (of: Claimed | undefined, detail: EventDetail) =>
    store.write(async (tx) => {
      const past = await findPast(tx, of?.id ?? 0)
      if (past === undefined) throw new Error('no past')
      if (past.status === 'relayed') {
        await confirmRelayed(tx, { deliveryId: past.id, reply: null, now: clock.now(), land })
      } else await bounceLate(tx, past, { reply: '550 no', detail, now: clock.now(), land })
    })
  await change(one, {})
  await store.write((tx) => tx.deleteFrom('events').execute())
  t.match(await rig.find(id), { delivered: 1, relayed: 1, bounced: 1, waiting: 0 })
  await change(one, { suppress: 'now' })
  await change(two, {})
  t.match(await rig.find(id), { delivered: 2, relayed: 0, bounced: 1, waiting: 0 })
  const counts = await store.read.selectFrom('protection').selectAll().executeTakeFirst()
  t.match(
    counts,
    { recipients: 1, bounces: 1, marketing_bounces: 1 },
    'the bounce brings its own recipient alone',
  )
})

t.test('opens and clicks count once a mail, and only those of people', async (t) => {
  const rig = await openCampaigns(t)
  const { store, land, accountId } = rig
  await rig.addMany(2)
  const { id } = await rig.create()
  await rig.expand()
  const [one, two] = await rig.deliver(() => 'delivered')
  const seen = new Set<string>()
  // As they are recorded: an earlier time takes the place of a later one, which a clock that was ahead had.
  const hit = (of: Claimed | undefined, type: 'opened' | 'clicked', at: number, machine = false) =>
    store.write(async (tx) => {
      const emailId = of?.emailId ?? ''
      const column = type === 'opened' ? 'opened_at' : 'clicked_at'
      if (!machine) {
        await tx
          .updateTable('emails')
          .set({ [column]: at })
          .where('id', '=', emailId)
          .where((eb) => eb.or([eb(column, 'is', null), eb(column, '>', at)]))
          .execute()
      }
      const event: MailEvent = {
        accountId,
        emailId,
        deliveryId: of?.id ?? 0,
        recipient: of?.recipient ?? '',
        class: queueClass.campaign,
        type,
        at,
        reply: null,
        detail: machine ? { machine: true } : null,
      }
      const isFirst = !machine && !seen.has(`${emailId} ${type}`)
      if (isFirst) seen.add(`${emailId} ${type}`)
      // A browser asks twice at times.
      await land(tx, [isFirst ? { ...event, detail: { first: true } } : event, event])
    })
  await hit(one, 'opened', 5, true)
  t.match(await rig.find(id), { opened: 0, clicked: 0 })
  await hit(one, 'opened', 10)
  await hit(one, 'opened', 20)
  await hit(one, 'opened', 2)
  await hit(two, 'opened', 20)
  await hit(two, 'clicked', 30)
  t.match(await rig.find(id), { opened: 2, clicked: 1, delivered: 2 })
})
