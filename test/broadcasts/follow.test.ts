import t from 'tap'
import { bounceLate, type Claimed, findPast } from '../../src/deliveries/index.js'
import type { MailEvent } from '../../src/events/index.js'
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
      ...{ status: 'sending', recipients: 10, waiting: 4, ended_at: null },
      ...{ delivered: 2, bounced: 1, failed: 1, relayed: 1, suppressed: 1 },
    })
    await clock.advance(60_000)
    await rig.deliver(() => 'delivered')
    t.match(await rig.find(id), {
      ...{ status: 'sent', waiting: 0, delivered: 6, bounced: 1, ended_at: rig.clock.now() },
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

t.test('opens and clicks count once a mail, and only those of people', async (t) => {
  const rig = await openCampaigns(t)
  const { store, land, accountId } = rig
  await rig.addMany(2)
  const { id } = await rig.create()
  await rig.expand()
  const [one, two] = await rig.deliver(() => 'delivered')
  const hit = (of: Claimed | undefined, type: 'opened' | 'clicked', at: number, machine = false) =>
    store.write(async (tx) => {
      const emailId = of?.emailId ?? ''
      const column = type === 'opened' ? 'opened_at' : 'clicked_at'
      if (!machine) {
        await tx
          .updateTable('emails')
          .set((eb) => ({ [column]: eb.fn.coalesce(column, eb.val(at)) }))
          .where('id', '=', emailId)
          .execute()
      }
      const event: MailEvent = {
        ...{ accountId, emailId, deliveryId: of?.id ?? 0, recipient: of?.recipient ?? '' },
        ...{ class: queueClass.campaign, type, at, reply: null },
        detail: machine ? { machine: true } : null,
      }
      // A browser asks twice at times.
      await land(tx, [event, event])
    })
  await hit(one, 'opened', 5, true)
  t.match(await rig.find(id), { opened: 0, clicked: 0 })
  await hit(one, 'opened', 10)
  await hit(one, 'opened', 20)
  await hit(two, 'opened', 20)
  await hit(two, 'clicked', 30)
  t.match(await rig.find(id), { opened: 2, clicked: 1, delivered: 2 })
})
