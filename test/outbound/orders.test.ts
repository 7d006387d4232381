// Issue 'what operators and developers ask', 3: a site or a domain is held, or its mail leaves from another pool.
import t from 'tap'
import { endOrders, giveOrder, openOrders, pastOrders } from '../../src/outbound/index.js'
import { queueClass } from '../../src/store/index.js'
import { type OutboundRig, outboundRig } from '../support/outbound.js'

const order = (
  rig: OutboundRig,
  of: { site: string; forMs?: number; kind?: 'hold' | 'pool'; pool?: string },
) => {
  const now = Date.now()
  const { kind = 'hold', forMs = 3_600_000, ...rest } = of
  const given = { kind, why: 'their postmaster asked', by: 'ada', now, until: now + forMs, ...rest }
  return rig.store.write((tx) => giveOrder(tx, given))
}

const stream = (rig: OutboundRig, lane: string) => ({
  lane,
  class: queueClass.transactional,
  accountId: rig.accountId,
})

t.test('mail to a domain waits, what comes meanwhile too, and says so; others go on', async (t) => {
  const rig = await outboundRig(t)
  await order(rig, { site: 'held.test' })
  await rig.retry('held.test')
  const id = await rig.send({ to: 'a@held.test' })
  await rig.becomes(await rig.send({ to: 'a@other.test' }), 'delivered')
  await rig.eventually(() => rig.gateOf(stream(rig, 'held.test'))?.gate === 'hold')
  t.match(rig.gateOf(stream(rig, 'held.test')), {
    says: /Mail to held\.test is held until .* by ada: their postmaster asked/,
    until: Number,
  })
  t.equal((await rig.email(id)).status, 'queued')
  const ended = await rig.store.write((tx) => endOrders(tx, { site: 'HELD.test' }, Date.now()))
  t.equal(ended.length, 1)
  await rig.becomes(id, 'delivered')
  t.same(await openOrders(rig.store.read, Date.now()), [])
  t.match(await pastOrders(rig.store.read, Date.now(), 5), [{ site: 'held.test', kind: 'hold' }])
})

t.test('a provider is held with all of its domains, and the order ends by itself', async (t) => {
  const rig = await outboundRig(t)
  const delivered = await rig.send({ to: 'a@one.test' })
  await rig.becomes(delivered, 'delivered')
  await order(rig, { site: 'fake', forMs: 4_000 })
  await rig.retry('one.test')
  const ids = await Promise.all(['a@one.test', 'a@two.test'].map((to) => rig.send({ to })))
  await rig.eventually(() => rig.gateOf(stream(rig, 'two.test'))?.gate === 'hold')
  t.same(await Promise.all(ids.map(async (id) => (await rig.email(id)).status)), [
    'queued',
    'queued',
  ])
  for (const id of ids) await rig.becomes(id, 'delivered')
})

t.test('an order outlives a restart, and a newer one takes the place of the same', async (t) => {
  const rig = await outboundRig(t)
  await order(rig, { site: 'held.test' })
  await order(rig, { site: 'held.test', forMs: 7_200_000 })
  t.equal((await openOrders(rig.store.read, Date.now())).length, 1)
  await rig.stop()
  await rig.start()
  const id = await rig.send({ to: 'a@held.test' })
  await rig.eventually(() => rig.gateOf(stream(rig, 'held.test'))?.gate === 'hold')
  t.equal((await rig.email(id)).status, 'queued')
})

t.test('what waits for a site leaves from another pool', async (t) => {
  const rig = await outboundRig(t, {
    stopped: true,
    config: {
      pools: {
        spare: {
          classes: [],
          accounts: [],
          sources: [{ addresses: ['127.0.0.9'], weight: 1, heloName: 'spare.test' }],
        },
      },
    },
  })
  const id = await rig.send({ to: 'a@one.test' })
  await order(rig, { site: 'fake', kind: 'pool', pool: 'spare' })
  await rig.start()
  await rig.becomes(id, 'delivered')
  t.match(JSON.stringify(rig.mx.sessions), /spare\.test/)
  await rig.store.write((tx) => endOrders(tx, { site: 'fake' }, Date.now()))
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
  t.match(JSON.stringify(rig.mx.sessions.at(-1)), /out\.test/)
})

t.test('one of two orders is ended alone, and what can be none is refused', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  await order(rig, { site: 'two.test' })
  await order(rig, { site: 'two.test', kind: 'pool', pool: 'spare' })
  const one = { site: 'two.test', kind: 'hold' } as const
  t.match(await rig.store.write((tx) => endOrders(tx, one, Date.now())), [{ kind: 'hold' }])
  t.match(await openOrders(rig.store.read, Date.now()), [{ kind: 'pool' }], 'the other one stays')
  await t.rejects(order(rig, { site: ' ' }), /Name a recipients' domain/)
  await t.rejects(order(rig, { site: 'a.test', forMs: 0 }), /from a moment to 30 days/)
  await t.rejects(order(rig, { site: 'a.test', forMs: 31 * 86_400_000 }), /30 days/)
})
