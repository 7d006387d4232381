import t from 'tap'
import { giveUp } from '../../src/deliveries/index.js'
import { type MailEvent, makeLandEvents, readTimeline } from '../../src/events/index.js'
import { outboundRig, type RigOptions } from '../support/outbound.js'

const words = ({ type, recipient, reply }: MailEvent) =>
  [type, recipient, reply].filter((word) => word !== null).join(' ')

const timeline = async (rig: Awaited<ReturnType<typeof outboundRig>>, id: string) =>
  (await readTimeline(rig.store.read, rig.accountId, id)).map(words)

t.test('a timeline tells of each recipient, and once that the mail was sent', async (t) => {
  const script: RigOptions['script'] = {
    rcpt: (to) => (to.includes('gone') ? '550 5.1.1 no such user' : '250 ok'),
    dot: '250 2.0.0 taken',
  }
  const rig = await outboundRig(t, { script })
  const id = await rig.send({ to: ['here@one.test', 'gone@two.test'] })
  await rig.becomes(id, 'bounced')
  const [first, ...outcomes] = await timeline(rig, id)
  t.equal(first, 'sent')
  t.same(outcomes.sort(), [
    'bounced gone@two.test 550 5.1.1 no such user',
    'delivered here@one.test 250 2.0.0 taken',
  ])
  const another = '01900000-0000-7000-8000-00000000000f'
  t.same(await readTimeline(rig.store.read, another, id), [], 'it is nobody else’s')
})

t.test('a deferral is told each time, the end of the mail once', async (t) => {
  const rig = await outboundRig(t, { script: { rcpt: '451 4.7.1 later' } })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.until(id, ({ recipients }) => recipients[0]?.attempts === 1)
  t.same(await timeline(rig, id), ['sent', 'deferred a@one.test 451 4.7.1 later'])
  const queued = await rig.store.read.selectFrom('queue').select('id').executeTakeFirstOrThrow()
  const how = { reason: 'enough', now: Date.now(), land: makeLandEvents([]) }
  await rig.store.write((tx) => giveUp(tx, [queued.id], how))
  t.match((await timeline(rig, id)).slice(2), [/^failed a@one\.test Given up .* enough/])
})

t.test('what follows from events is written with them or not at all', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const id = await rig.send({ to: 'a@one.test' })
  const event: MailEvent = {
    accountId: rig.accountId,
    emailId: id,
    deliveryId: 1,
    recipient: 'a@one.test',
    class: 0,
    type: 'complained',
    at: 5,
    reply: null,
    detail: { bounceType: 'Permanent' },
  }
  const seen: MailEvent[] = []
  const land = makeLandEvents([
    async (_tx, events) => {
      seen.push(...events)
    },
  ])
  await rig.store.write((tx) => land(tx, [event]))
  await rig.store.write((tx) => land(tx, []))
  t.same(seen, [event])
  t.same(await readTimeline(rig.store.read, rig.accountId, id), [event])

  const failing = makeLandEvents([
    async () => {
      throw new Error('no')
    },
  ])
  await t.rejects(rig.store.write((tx) => failing(tx, [event])))
  t.equal((await timeline(rig, id)).length, 1)
})
