// Issue 44: the people behind a number of a report as a rule, whatever the audience was.
import { is } from 'superstruct'
import t, { type Test } from 'tap'

import {
  broadcastReport,
  mostParts,
  neverSent,
  pageOfPeople,
  ruleOfPeople,
  stopBroadcast,
} from '../../src/broadcasts/index.js'
import { enterNext } from '../../src/emails/recipient-index.js'
import type { MailEvent } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  createSegment,
  keepSegments,
  mailedUnknown,
  requireSegment,
  SegmentRule,
  segmentMembers,
} from '../../src/segments/index.js'
import { noteMailed, rollUp } from '../../src/stats/index.js'
import { queueClass } from '../../src/store/index.js'
import { openCampaigns } from '../support/campaigns.js'

const id = '00000000-0000-7000-8000-000000000001'
const ids = (count: number) =>
  Array.from({ length: count }, (_, n) => `00000000-0000-7000-8000-0000000001${10 + n}`)
const none = { lists: [], segments: [], withoutLists: [], withoutSegments: [] }
const ruleOf = (whom: object, who: 'not_sent' | 'not_opened' | 'left' = 'not_sent') =>
  ruleOfPeople(
    { id, list_id: '', whom: JSON.stringify(Object.assign({}, none, whom)), sent_at: 1_000 },
    { who },
  )

t.test('an audience of several lists and segments is read whole', async (t) => {
  const [a = '', b = '', c = ''] = ids(3)
  t.same(ruleOf({ lists: [a], segments: [b], withoutLists: [c] }), {
    all: [
      {
        any: [
          { field: `list.${a}.joinedAt`, operator: 'lte', value: '1970-01-01T00:00:01.000Z' },
          { field: `segment.${b}`, operator: 'eq', value: true },
        ],
      },
      { not: { any: [{ field: `list.${c}`, operator: 'eq', value: true }] } },
      { field: `broadcast.${id}.sent`, operator: 'eq', value: false },
    ],
  })
  t.equal(ruleOf({}), undefined, 'of nobody there is no rule')
  t.same(ruleOf({ lists: [a] }, 'left'), {
    field: `broadcast.${id}.left`,
    operator: 'eq',
    value: true,
  })
})

t.test('the largest audience fits into a rule', async (t) => {
  for (const count of [1, 10, mostParts]) {
    const all = ids(mostParts)
    const some = [all.slice(0, count), all.slice(count)] as const
    for (const whom of [
      { segments: some[0], withoutSegments: some[1] },
      { lists: some[0], withoutLists: some[1] },
    ]) {
      t.ok(is(ruleOf(whom), SegmentRule), JSON.stringify(whom).slice(0, 80))
    }
  }
})

t.test('whom a campaign was sent to, and who got it, are segments that stay right', async (t) => {
  const campaigns = await openCampaigns(t)
  const { store, clock, accountId, find, expand, deliver } = campaigns
  await campaigns.addMany(9)
  const { id } = await campaigns.create()
  await expand()
  await deliver(({ recipient }) => (recipient === 'p0@d0.test' ? 'bounced' : 'delivered'))
  await campaigns.add('late@d1.test')
  const deps = { store, clock, log: silentLog }
  type Asked = 'sent' | 'delivered' | 'not_clicked' | 'not_opened'
  const make = async (who: Asked, of = id) => {
    const rule = ruleOfPeople(await find(of), { who })
    return await createSegment(deps, accountId, { name: who, rule: rule ?? { all: [] } })
  }
  const keep = () => keepSegments(deps, new AbortController().signal)
  /** Who is in the segment, and who is behind the number of the report. */
  const both = async (segmentId: string, who: Asked) => {
    await keep()
    const { members } = await segmentMembers(store.read, accountId, segmentId, { limit: 50 })
    const { recipients } = await pageOfPeople(store.read, id, { who, limit: 50 })
    return [members.map(({ email }) => email).sort(), recipients.map(({ email }) => email).sort()]
  }
  const same = async (t: Test, count: number, who: Asked, segmentId: string) => {
    const [members = [], people] = await both(segmentId, who)
    t.same(members, people, who)
    t.equal(members.length, count, who)
  }
  const rule = { field: `broadcast.${id}.sent`, operator: 'eq', value: true } as const
  t.match(await mailedUnknown(store.read, rule), /^Who got the campaign "News" is looked up/)
  while (await rollUp(store)) {}
  const got = await make('delivered')
  t.same((await both(got.id, 'delivered'))[0], [], 'it waits until all mails are looked at')
  t.equal((await requireSegment(store.read, accountId, got.id)).state, 'filling')
  t.equal(await noteMailed(store, 4), true)
  t.same((await both(got.id, 'delivered'))[0], [])
  while (await noteMailed(store, 4)) {}
  await same(t, 8, 'delivered', got.id)
  const sent = await make('sent')
  await same(t, 9, 'sent', sent.id)
  t.equal(await mailedUnknown(store.read, rule), undefined)
  // Whose mail bounced did not get it, so they are not among those who did nothing with it.
  await same(t, 8, 'not_clicked', (await make('not_clicked')).id)
  await same(t, 8, 'not_opened', (await make('not_opened')).id)

  // Those at one provider, as the report counts them.
  const there = { who: 'delivered', provider: 'd1.test' } as const
  const part = await createSegment(deps, accountId, {
    name: 'There',
    rule: ruleOfPeople(await campaigns.find(id), there) ?? { all: [] },
  })
  await keep()
  const [members = []] = await both(part.id, 'delivered')
  const { recipients: listed } = await pageOfPeople(store.read, id, { ...there, limit: 50 })
  t.same(members, listed.map(({ email }) => email).sort())
  t.ok(members.length > 0 && members.every((email) => email.endsWith('@d1.test')))
  const { providers } = await broadcastReport({ store, tracking: undefined }, accountId, id)
  t.equal(providers.find((one) => one.provider === 'd1.test')?.delivered, members.length)
  const elsewhere = { who: 'delivered', provider: '*', limit: 50 } as const
  t.same((await pageOfPeople(store.read, id, elsewhere)).recipients, [], 'all are named')
  t.equal(ruleOfPeople(await campaigns.find(id), elsewhere), undefined)

  // A report that comes late takes a delivery back; the mail went out all the same.
  const mail = await store.read
    .selectFrom('emails')
    .innerJoin('deliveries', 'deliveries.email_id', 'emails.id')
    .select(['emails.id', 'deliveries.id as deliveryId', 'recipient'])
    .where('broadcast_id', '=', id)
    .where('recipient', '=', 'p1@d1.test')
    .executeTakeFirstOrThrow()
  await store.write(async (tx) => {
    await tx.updateTable('emails').set({ status: 'bounced' }).where('id', '=', mail.id).execute()
    await campaigns.land(tx, [
      {
        accountId,
        emailId: mail.id,
        deliveryId: mail.deliveryId,
        recipient: mail.recipient,
        class: queueClass.campaign,
        type: 'bounced',
        at: clock.now(),
        before: 'delivered',
        reply: '550 5.1.1 no such user',
        detail: { bounceType: 'Permanent', bounceClass: 'bad-mailbox' },
      } as MailEvent,
    ])
  })
  while (await rollUp(store)) {}
  await same(t, 7, 'delivered', got.id)
  await same(t, 9, 'sent', sent.id)

  // What is noted stays when the mails go; of a campaign that nobody asked for nothing is known then.
  const other = await campaigns.create({ subject: 'Other' })
  await expand()
  await deliver(() => 'delivered')
  await store.write(async (tx) => {
    await tx.deleteFrom('emails').where('broadcast_id', 'is not', null).execute()
  })
  const known = await make('delivered')
  await keep()
  t.equal((await requireSegment(store.read, accountId, known.id)).count, 7)
  await t.rejects(make('sent', other.id), /"Other" are no longer kept/)

  // Whoever is mailed after that is in as soon as their server has taken it.
  const third = await campaigns.create({ subject: 'Third' })
  const next = await make('delivered', third.id)
  while (await noteMailed(store, 4)) {}
  await keep()
  await expand()
  await deliver(({ recipient }) => (recipient.startsWith('p2@') ? 'failed' : 'relayed'))
  while (await rollUp(store)) {}
  await keep()
  t.equal((await requireSegment(store.read, accountId, next.id)).count, 9)
})

t.test('to whom it never went out as its rest was cancelled is a segment', async (t) => {
  const campaigns = await openCampaigns(t)
  const { store, clock, accountId, find, expand } = campaigns
  await campaigns.addMany(2)
  const { id } = await campaigns.create()
  await expand()
  await campaigns.deliver(() => 'delivered')
  // No mail was made of four others yet.
  for (const n of [1, 2, 3, 4]) await campaigns.add(`late${n}@d1.test`)
  await store.write(async (tx) => {
    const set = { audience: 6, expanded: 0, status: 'paused', paused_by: 'account' } as const
    await tx
      .updateTable('broadcasts')
      .set({ ...set, reason: 'x' })
      .execute()
  })
  t.equal(neverSent(await find(id)), 0, 'they still get it')
  await stopBroadcast({ store, clock }, await find(id))
  t.match(await find(id), { status: 'cancelled', reason: null, paused_by: null })
  t.equal(neverSent(await find(id)), 4)
  const deps = { store, clock, log: silentLog }
  const rule = ruleOfPeople(await find(id), { who: 'not_sent' }) ?? { all: [] }
  const segment = await createSegment(deps, accountId, { name: 'Never sent', rule })
  while (await rollUp(store)) {}
  while (await noteMailed(store, 4)) {}
  await keepSegments(deps, new AbortController().signal)
  const { members } = await segmentMembers(store.read, accountId, segment.id, { limit: 50 })
  t.equal(members.length, 4)
  const list = async () => {
    const first = await pageOfPeople(store.read, id, { who: 'not_sent', limit: 3 })
    t.match(first.recipients[0], { emailId: null, status: 'cancelled' })
    const after = first.endsAt ?? undefined
    const next = await pageOfPeople(store.read, id, { who: 'not_sent', after, limit: 3 })
    t.equal(next.endsAt, null)
    return [...first.recipients, ...next.recipients].map(({ email }) => email)
  }
  const never = members.map(({ email }) => email).sort()
  t.same(await list(), never)
  // As of versions and own clocks: the whole of the audience is gone through.
  await store.write((tx) => tx.updateTable('broadcasts').set({ cursor: '' }).execute())
  t.same(await list(), never, 'of its last minute')
  const later = { now: () => clock.now() + 120_000 } as typeof clock
  while (await enterNext({ store, clock: later })) {}
  t.same(await list(), never, 'and once they are found by their recipients')
})
