import t from 'tap'
import {
  type Asker,
  makeConnectionShares,
  serverOf,
} from '../../src/outbound/admission/connection-shares.js'
import type { DeliverySlot } from '../../src/outbound/admission/delivery-slots.js'
import { FakeClock } from '../support/clock.js'

const transactional = 0
const campaign = 2

interface Wish extends Partial<Omit<Asker, 'lane'>> {
  server?: string
}

function rigOf(total = 80) {
  const clock = new FakeClock()
  const shares = makeConnectionShares(total, clock)
  const askerOf = ({ server, ...wish }: Wish): Asker => ({
    of: transactional,
    accountId: 'x',
    site: 'site',
    answers: true,
    lane: { server },
    ...wish,
  })
  const start = (wish: Wish) => {
    const asker = askerOf(wish)
    return shares.refuses(asker) ? undefined : shares.started({} as DeliverySlot, asker)
  }
  return {
    clock,
    shares,
    start,
    refuses: (wish: Wish) => shares.refuses(askerOf(wish))?.share,
    /** As many as there is room for. */
    fill(wish: (i: number) => Wish) {
      const slots: DeliverySlot[] = []
      for (let slot = start(wish(0)); slot; slot = start(wish(slots.length))) slots.push(slot)
      return slots
    },
    async take(wish: Wish, ms: number) {
      const slot = start(wish)
      await clock.advance(ms)
      if (slot) shares.ended(slot, true)
    },
  }
}
const isCut = (slot: DeliverySlot) => slot.cut?.why !== undefined

t.test('a site that answers promptly may have half of all connections', async (t) => {
  const { fill, refuses } = rigOf()
  const slots = fill(() => ({ server: '192.0.2.1' }))
  t.equal(slots.length, 40)
  t.equal(refuses({ server: '192.0.2.2' }), 'site site')
  t.equal(refuses({ site: 'other', server: '192.0.2.1' }), 'server 192.0.2.1')
  t.equal(refuses({ site: 'other', server: '192.0.2.2' }), undefined)
})

t.test('an account has three quarters, a fifth of them for transactional mail', async (t) => {
  const { fill, refuses } = rigOf()
  t.equal(fill((i) => ({ of: campaign, site: `s${i}` })).length, 48)
  t.equal(fill((i) => ({ site: `t${i}` })).length, 12)
  t.equal(refuses({ site: 'new' }), 'account x')
  t.equal(refuses({ site: 'new', accountId: 'y' }), undefined)
})

t.test('what is slow or not known leaves a quarter to what is prompt', async (t) => {
  const { fill, refuses } = rigOf()
  const unknown = (i: number) => ({ site: `s${i}`, answers: false })
  t.equal(fill((i) => ({ ...unknown(i), server: '192.0.2.1' })).length, 30, 'one server')
  t.equal(refuses({ ...unknown(99), server: '192.0.2.1' }), 'server 192.0.2.1 slow')
  t.equal(fill((i) => unknown(i + 100)).length, 15, 'one account, 45 with those')
  t.equal(refuses(unknown(999)), 'account x slow')
  t.equal(fill((i) => ({ ...unknown(i + 200), accountId: 'y' })).length, 15)
  t.equal(refuses({ ...unknown(999), accountId: 'z' }), 'all all slow')
  t.equal(refuses({ accountId: 'z' }), undefined, 'a site that answers')
})

t.test('a site or a server that takes long is slow before it begins', async (t) => {
  const { take, fill, refuses } = rigOf()
  const there = { site: 'slow', server: '192.0.2.1' }
  await take(there, 600_000)
  t.equal(fill((i) => ({ ...there, site: `s${i}` })).length, 40, 'once is nothing')
  const { take: takeToo, fill: fillToo, clock } = rigOf()
  for (let i = 0; i < 2; i++) await takeToo(there, 600_000)
  const elsewhere = fillToo(() => ({ ...there, server: '192.0.2.2' }))
  t.equal(elsewhere.length, 30, 'the site is')
  t.equal(fillToo((i) => ({ ...there, site: `s${i}` })).length, 15, 'and the server; 45 together')
  await clock.advance(1)
  t.equal(refuses({ accountId: 'y' }), undefined)
})

t.test('and it is so no more when it was prompt some times, or a while ago', async (t) => {
  const { take, fill, clock } = rigOf()
  for (let i = 0; i < 2; i++) await take({}, 11_000)
  for (let i = 0; i < 3; i++) await take({}, 100)
  t.equal(fill(() => ({})).length, 40)
  const other = rigOf()
  for (let i = 0; i < 20; i++) await other.take({}, 11_000)
  await other.clock.advance(600_000)
  await other.take({ site: 'another', accountId: 'y' }, 1)
  await other.clock.advance(600_000)
  t.equal(other.fill(() => ({})).length, 40)
  await clock.advance(1)
})

t.test('those who have most give up first, down to half of the share', async (t) => {
  const { fill, start, clock, shares } = rigOf()
  const lone = start({ accountId: 'y', site: 'lone', server: '192.0.2.9', answers: false })
  const many = fill((i) => ({ site: `s${i}`, server: `192.0.2.${i % 2}`, answers: false }))
  t.equal(many.length, 45)
  await clock.advance(58_000)
  shares.cut()
  t.equal(many.filter(isCut).length, 0)
  t.equal(shares.cutAt(), clock.now() + 2_000)
  await clock.advance(2_000)
  shares.cut()
  t.equal(many.filter(isCut).length, 45 - 23, 'half of the share of an account')
  t.notOk(lone && isCut(lone))
  const [first] = many
  t.match(String(first?.cut?.why), /given up after 60 s, as other mail waits/)
  await clock.advance(600_000)
  for (const slot of many.filter(isCut)) shares.ended(slot, true)
  shares.cut()
  t.notOk(lone && isCut(lone), 'where it is not crowded nobody is hurried')
})

t.test('where all hang at the same moment they get half a minute', async (t) => {
  const { fill, clock, shares } = rigOf()
  const slots = ['x', 'y'].flatMap((accountId) =>
    fill((i) => ({ accountId, site: `${accountId}${i}`, server: `192.0.2.${i}` })),
  )
  t.equal(slots.length, 80, 'all were prompt before')
  await clock.advance(10_000)
  shares.cut()
  t.equal(slots.filter(isCut).length, 0)
  t.equal(shares.cutAt(), clock.now() + 20_000)
  await clock.advance(20_000)
  shares.cut()
  t.equal(80 - slots.filter(isCut).length, 30, 'half of what slow ones may have')
})

t.test('who goes to another server than was expected counts there', async (t) => {
  const { start, shares, refuses } = rigOf()
  const lane = { server: '192.0.2.1' }
  const slots = Array.from({ length: 40 }, (_, i) => {
    const asker = {
      of: transactional,
      accountId: `a${i}`,
      site: `s${i}`,
      answers: true,
      lane,
    } as const
    const slot = shares.started({} as DeliverySlot, { ...asker, lane: { ...lane } })
    slot.goesTo?.('192.0.2.2')
    return slot
  })
  t.equal(refuses({ server: '192.0.2.2' }), 'server 192.0.2.2')
  t.equal(refuses({ server: '192.0.2.1' }), undefined)
  const [slot] = slots
  t.match(slot && shares.ended(slot, true), ['server 192.0.2.1', 'server 192.0.2.1'].slice(0, 1))
  t.ok(start({ server: '192.0.2.2' }))
})

t.test('an IPv6 server is its network, and a clock set back makes nobody older', async (t) => {
  t.equal(serverOf('192.0.2.1'), '192.0.2.1')
  t.equal(serverOf('2001:db8:1:2::25'), serverOf('2001:db8:1:2:ffff::1'))
  t.not(serverOf('2001:db8:1:2::25'), serverOf('2001:db8:1:3::25'))
  const { fill, clock, shares } = rigOf()
  const slots = fill((i) => ({ site: `s${i}`, answers: false }))
  await clock.advance(50_000)
  shares.cut()
  clock.setBack(3_600_000)
  shares.cut()
  await clock.advance(9_000)
  shares.cut()
  t.equal(slots.filter(isCut).length, 0)
  await clock.advance(1_000)
  shares.cut()
  t.ok(slots.filter(isCut).length > 0)
})
