import t from 'tap'
import { bounceLate, findPast } from '../../src/deliveries/index.js'
import { conclude } from '../../src/inbound/conclude.js'
import type { ReportReading } from '../../src/inbound/reading.js'
import { recordVisits } from '../../src/tracking/record-visits.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test('a late bounce or complaint suppresses, and changes no campaign', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store, land, campaigns, accountId } = log
  await campaigns.addMany(3)
  const campaign = await campaigns.create()
  await campaigns.expand()
  const taken = await log.deliver()
  await clock.advance(1)
  await log.accept([{ html: 'newest' }])
  await clock.advance(8 * day)
  const before = await campaigns.find(campaign.id)
  await log.run()
  t.equal((await log.mails()).length, 1)
  t.equal(await log.rows('deliveries'), 0)
  const [bounced, complained, left] = taken.map(({ id }) => id)
  const now = clock.now()
  const reports = async (id = 0) =>
    await store.write(async (tx) => {
      const past = await findPast(tx, id)
      if (past === undefined) return undefined
      const detail = { bounceType: 'Permanent', suppress: 'now' } as const
      return await bounceLate(tx, past, { reply: '550 5.1.1', detail, now, land })
    })
  t.equal(await reports(bounced), true)
  t.equal(await reports(bounced), false, 'once')
  const arf = (means: 'complaint' | 'unsubscribe'): ReportReading =>
    ({ report: { kind: 'arf', feedback: { means, type: 'abuse' } }, verdicts: [] }) as never
  for (const [id, means] of [
    [complained, 'complaint'],
    [left, 'unsubscribe'],
  ] as const) {
    await store.write(async (tx) => {
      const past = await findPast(tx, id ?? 0)
      if (past === undefined) throw new Error('Nothing is known of the delivery')
      await conclude(tx, past, arf(means), { land, now })
    })
  }
  const suppressed = await store.read
    .selectFrom('suppressions')
    .select(['reason'])
    .where('account_id', '=', accountId)
    .execute()
  t.same(suppressed.map(({ reason }) => reason).sort(), ['bounce', 'complaint', 'unsubscribe'])
  t.same(await campaigns.find(campaign.id), before)
  t.match(
    await store.read.selectFrom('protection').selectAll().execute(),
    [{ bounces: 1 }],
    'and the rates have it',
  )
  for (let days = 0; days < 60; days += 5) {
    await clock.advance(5 * day)
    await log.run()
  }
  t.equal(await log.rows('past_deliveries'), 0, 'nobody reports any more')
})

t.test('a late open or click leaves nothing and breaks nothing', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store, land, accountId } = log
  const [emailId = ''] = await log.accept([{}])
  const [delivery] = await log.deliver()
  await log.accept([{ html: 'newest' }])
  await clock.advance(8 * day)
  await log.run()
  const at = clock.now()
  const people = { count: 1, hits: [{ kind: 'clicked' as const, at, userAgent: 'x' }] }
  const none = { count: 0, hits: [] }
  const visit = {
    accountId,
    emailId,
    deliveryId: delivery?.id ?? 0,
    links: 1,
    firstAt: at,
    opened: { people: none, machines: none },
    clicked: { people, machines: none },
    targets: new Set(['https://x.test/']),
  }
  const allowance = { take: () => 1 } as never
  await store.write((tx) => recordVisits(tx, { land, allowance, machineWithinMs: 0 }, [visit]))
  const events = await store.read.selectFrom('events').select('type').execute()
  t.notOk(events.some(({ type }) => type === 'clicked'))
})
