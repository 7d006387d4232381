import t from 'tap'
import { readBilling } from '../../src/billing/index.js'
import {
  campaignsWait,
  campaignVersions,
  changeDraft,
  chooseVariant,
  pageOfPeople,
  pauseBroadcast,
  pauseOverdue,
  resumeBroadcast,
  sendDraft,
  takeBack,
} from '../../src/broadcasts/index.js'
import { usualTest } from '../../src/broadcasts/variant.js'
import { localTime } from '../../src/clock/index.js'
import { forgetTested, forgetVariantBodies } from '../../src/retention/variant-bodies.js'
import { queueClass } from '../../src/store/index.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

type Rig = Awaited<ReturnType<typeof openCampaigns>>
const hour = 3_600_000

const twoSubjects = [{ subject: 'A for {{ email }}' }, { subject: 'B for {{ email }}' }]

/** The mails of the campaigns, by recipient. */
async function mailsOf({ store }: Rig) {
  return await store.read
    .selectFrom('emails')
    .select(['id', 'account_id as accountId', 'to_list as to', 'subject', 'variant'])
    .orderBy('to_list')
    .execute()
}

type Mail = Awaited<ReturnType<typeof mailsOf>>[number]

/** Clicks of people, or of machines. */
async function click(rig: Rig, mails: readonly Mail[], machine = false) {
  const events = mails.map(({ id, accountId, to }) => ({
    accountId,
    emailId: id,
    recipient: (JSON.parse(to) as [string])[0],
    class: queueClass.campaign,
    type: 'clicked' as const,
    at: rig.clock.now(),
    detail: { url: 'https://x.test/', first: !machine, ...(machine && { machine }) },
  }))
  await rig.store.write((tx) => rig.land(tx, events as never))
}

t.test('the rest gets the version that people click, while machines click all of A', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(600)
  const made = await rig.create({
    variants: twoSubjects,
    variantTest: { share: 50, decideAfter: 2 },
  })
  await rig.expand()
  const test = await mailsOf(rig)
  t.equal(test.length, 300, 'half of them, to one')
  const ofA = test.filter(({ variant }) => variant === 'A')
  const ofB = test.filter(({ variant }) => variant === 'B')
  t.same([ofA.length, ofB.length], [150, 150])
  t.ok(ofB.every(({ subject, to }) => subject === `B for ${JSON.parse(to)[0]}`))
  t.match(await rig.find(made.id), {
    status: 'sending',
    expanded: 0,
    reason: /waits for the decision at/,
    decide_at: clock.now() + 2 * hour,
    winner: null,
  })
  t.equal(await campaignsWait(rig), false, 'nothing is to be done before')
  await rig.deliver(() => 'delivered')
  t.match(await rig.find(made.id), { status: 'sending', waiting: 0 }, 'and it has not ended')
  await click(rig, ofA, true)
  await click(rig, ofA.slice(0, 3))
  await click(rig, ofB.slice(0, 30))
  await clock.advance(2 * hour - 1)
  t.same(await pauseOverdue(rig), [], 'it is not overdue')
  await clock.advance(2)
  t.equal(await campaignsWait(rig), true)
  const stale = await rig.find(made.id)
  await rig.expand()
  const after = await rig.find(made.id)
  t.match(after, { winner: 'B', decided_by: 'figures', expanded: 1, recipients: 600, reason: null })
  const all = await mailsOf(rig)
  t.equal(new Set(all.map(({ to }) => to)).size, 600, 'everybody once')
  t.equal(all.length, 600)
  t.equal(all.filter(({ variant }) => variant === 'A').length, ofA.length)
  const variants = await rig.store.read.selectFrom('broadcast_variants').selectAll().execute()
  t.match(variants, [
    { key: 'A', recipients: ofA.length, clicked: 3, delivered: ofA.length },
    { key: 'B', recipients: 600 - ofA.length, clicked: 30, delivered: ofB.length },
  ])
  t.ok(stale.decide_at)
  await rig.deliver(() => 'delivered')
  t.match(await rig.find(made.id), { status: 'sent' })
})

t.test('the smallest test that is allowed has its hundred people a version', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(999)
  const three = [...twoSubjects, {}]
  const thirty = { variants: three, variantTest: { share: 30 } }
  await t.rejects(rig.create({ ...thirty, variantTest: { share: 29 } }), {
    message: /to 96 people/,
  })
  const drawn: string[] = []
  for (let round = 0; round < 3; round++) {
    const { id } = await rig.create(thirty)
    await rig.expand()
    const variants = await rig.store.read
      .selectFrom('broadcast_variants')
      .select(['key', 'recipients'])
      .where('broadcast_id', '=', id)
      .orderBy('key')
      .execute()
    t.same(
      variants.map(({ recipients }) => recipients),
      [100, 100, 100],
    )
    const mails = rig.store.read
      .selectFrom('emails')
      .select('to_list')
      .where('broadcast_id', '=', id)
    drawn.push((await mails.orderBy('to_list').execute()).map(({ to_list }) => to_list).join())
  }
  t.equal(new Set(drawn).size, 3, 'of each campaign others')
})

t.test(
  'versions go by own clocks too: the test at its hour, the rest at the next one',
  async (t) => {
    const clock = new FakeClock(Date.parse('2026-12-01T00:00:00Z'))
    const rig = await openCampaigns(t, { clock })
    const zones = ['Pacific/Auckland', 'Africa/Lagos', 'America/New_York']
    for (let n = 0; n < 420; n++) {
      await rig.add(`p${n}@x.test`, { metadata: { timeZone: zones[n % 3] } })
    }
    const own = { scheduledAt: '2026-12-03T09:00:00+01:00', localTimeOf: 'Africa/Lagos' }
    const test = { variants: twoSubjects, variantTest: { share: 50, decideAfter: 1 } }
    const { id } = await rig.create({ ...own, ...test })
    const inZone = new Map<string, number>()
    /** At which hours, of whose clocks, mails were made meanwhile. */
    const madeUntil = async (end: string) => {
      const before = new Set((await mailsOf(rig)).map((one) => one.id))
      while (clock.now() < Date.parse(end)) {
        await clock.advance(hour / 2)
        await rig.expand()
      }
      const made = (await mailsOf(rig)).filter((one) => !before.has(one.id))
      const due = await rig.store.read.selectFrom('queue').select(['email_id', 'due_at']).execute()
      const dueAt = new Map(due.map((one) => [one.email_id, one.due_at]))
      const hours = new Set<string>()
      for (const { id: mail, to } of made) {
        const zone = zones[Number(/p(\d+)@/.exec(to)?.[1]) % 3] ?? ''
        inZone.set(zone, (inZone.get(zone) ?? 0) + 1)
        hours.add(`${zone} ${localTime(dueAt.get(mail) ?? 0, zone)}`)
      }
      return { made, hours: [...hours].sort() }
    }
    const first = await madeUntil('2026-12-03T14:30:00Z')
    t.same(first.hours, [
      'Africa/Lagos 2026-12-03T09:00',
      'America/New_York 2026-12-03T09:00',
      'Pacific/Auckland 2026-12-03T09:00',
    ])
    t.equal(first.made.length, 210)
    for (const key of ['A', 'B']) {
      t.equal(first.made.filter(({ variant }) => variant === key).length, 105)
    }
    const decideAt = Date.parse('2026-12-03T15:00:00Z')
    t.match(await rig.find(id), { cursor: '~~', winner: null })
    t.ok(((await rig.find(id)).decide_at ?? 0) <= decideAt)
    const rest = await madeUntil('2026-12-04T15:00:00Z')
    t.same(rest.hours, [
      'Africa/Lagos 2026-12-04T09:00',
      'America/New_York 2026-12-04T09:00',
      'Pacific/Auckland 2026-12-04T09:00',
    ])
    t.equal(rest.made.length, 210)
    t.ok(rest.made.every(({ variant }) => variant === 'A'))
    t.match(await rig.find(id), { expanded: 1, recipients: 420, winner: 'A' })
    t.same([...inZone.values()], [140, 140, 140])
    const later = await rig.store.read.selectFrom('broadcast_later').selectAll().execute()
    t.same(later, [])
  },
)

t.test(
  'who joins after the test gets the chosen version, and the test is compared alone',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(500)
    const made = await rig.create({
      variants: twoSubjects,
      variantTest: { share: 50, decideAfter: 'by hand' },
    })
    await rig.expand()
    const test = await mailsOf(rig)
    await rig.deliver(() => 'delivered')
    await click(rig, test.filter(({ variant }) => variant === 'A').slice(0, 9))
    for (let n = 0; n < 40; n++) await rig.add(`late${n}@d1.test`)
    await chooseVariant(rig.deps, rig.accountId, { id: made.id, key: 'A' })
    const chances = async () =>
      (await campaignVersions(rig.store.read, await rig.find(made.id))).variants.map(
        ({ chance }) => chance,
      )
    const before = await chances()
    await rig.expand()
    const all = await mailsOf(rig)
    t.equal(all.length, 540, 'half of those who came have a place in the test, and get it too')
    t.equal(new Set(all.map(({ to }) => to)).size, 540, 'nobody twice')
    t.ok(all.filter(({ to }) => to.includes('late')).every(({ variant }) => variant === 'A'))
    await rig.deliver(() => 'delivered')
    const tried = new Set(test.map(({ id }) => id))
    await click(
      rig,
      all.filter(({ id }) => !tried.has(id)),
    )
    t.same(await chances(), before, 'the rest has clicked, and is no part of the test')
    await click(rig, test.filter(({ variant }) => variant === 'A').slice(9, 12))
    const told = await campaignVersions(rig.store.read, await rig.find(made.id))
    t.match(told.variants, [
      {
        key: 'A',
        recipients: 415,
        clicked: 302,
        test: { recipients: 125, delivered: 125, clicked: 12, compared: { did: 9, of: 125 } },
        rest: { recipients: 290, delivered: 290, clicked: 290 },
      },
      { key: 'B', test: { recipients: 125, clicked: 0 }, rest: null },
    ])
    const whoClicked = async (part: 'test' | 'rest') =>
      (
        await pageOfPeople(rig.store.read, made.id, {
          who: 'made',
          variant: 'A',
          part,
          limit: 500,
        })
      ).recipients.length
    t.same([await whoClicked('test'), await whoClicked('rest')], [125, 290])
    t.match(await rig.find(made.id), { status: 'sent' })
    t.equal(await forgetTested(rig.store, new AbortController().signal), test.length)
    t.same(await rig.store.read.selectFrom('broadcast_tested').selectAll().execute(), [])
  },
)

t.test('an audience that is too small for the test at its time pauses the campaign', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(400)
  const scheduledAt = new Date(clock.now() + hour).toISOString()
  const made = await rig.create({
    scheduledAt,
    variants: twoSubjects,
    variantTest: { share: 50 },
  })
  // As if the list had lost most of its people since.
  const share = JSON.stringify({ ...usualTest, share: 10 })
  await rig.store.write((tx) =>
    tx.updateTable('broadcasts').set({ variant_test: share }).where('id', '=', made.id).execute(),
  )
  await clock.advance(hour)
  await rig.expand()
  t.match(await rig.find(made.id), {
    status: 'paused',
    paused_by: 'account',
    reason: /Each version goes to 20 people, and needs 100/,
    recipients: 0,
  })
  await takeBack(rig.deps, rig.accountId, made.id)
  t.match(await rig.find(made.id), { status: 'draft' })
})

t.test('too close: the first version, or it waits for somebody, paused or not', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(500)
  const close = await rig.create({ variants: twoSubjects, variantTest: { share: 50 } })
  await rig.expand()
  await clock.advance(4 * hour)
  await rig.expand()
  t.match(await rig.find(close.id), { winner: 'A', decided_by: 'close', recipients: 500 })

  const waits = await rig.create({
    variants: twoSubjects,
    variantTest: { share: 50, ifClose: 'wait' },
  })
  const choose = (id: string, key: string) => chooseVariant(rig.deps, rig.accountId, { id, key })
  await t.rejects(choose(waits.id, 'B'), { code: 'conflict', message: /still being made/ })
  await rig.expand()
  await clock.advance(5 * hour)
  await rig.expand()
  const reason =
    'No version was better for sure: it waits until somebody chooses the version for the rest'
  t.match(await rig.find(waits.id), { winner: null, reason })
  await pauseBroadcast(rig, waits, { reason: 'x', byAccount: true })
  await resumeBroadcast(rig, waits, { byAccount: true })
  await rig.expand()
  t.match(await rig.find(waits.id), { winner: null, reason }, 'told again once it goes on')
  await clock.advance(12 * hour)
  t.same(await pauseOverdue(rig), [])
  await pauseBroadcast(rig, waits, { reason: 'x', byAccount: true })
  await t.rejects(choose(waits.id, 'C'), { code: 'not_found' })
  await choose(waits.id, 'B')
  await t.rejects(choose(waits.id, 'A'), { code: 'conflict', message: /Version B/ })
  await rig.expand()
  t.match(await rig.find(waits.id), { status: 'paused', winner: 'B' })
  await resumeBroadcast(rig, waits, { byAccount: true })
  await rig.expand()
  t.match(await rig.find(waits.id), { recipients: 500, expanded: 1, decided_by: 'account' })

  const whole = await rig.create({ variants: twoSubjects, variantTest: { share: 100 } })
  await rig.expand()
  t.match(await rig.find(whole.id), { recipients: 500, expanded: 1, winner: null })
})

t.test(
  'versions change with their draft, and are refused where they cannot be tried',
  async (t) => {
    const rig = await openCampaigns(t)
    await rig.addMany(300)
    const { store } = rig
    const billing = await readBilling(store.read, plans, rig.accountId)
    await t.rejects(rig.create({ variants: twoSubjects }), {
      message: /goes to 30 people.* needs 100/,
    })
    await t.rejects(rig.create({ variants: twoSubjects.slice(1) }), { message: /2 to 5/ })
    await t.rejects(rig.create({ variants: [{ key: 'B' }, {}] }), { message: /another key/ })
    await t.rejects(rig.create({ variants: [{}, { subject: '{{ x' }] }), { message: /syntax/ })
    const bodies = async () =>
      (await store.read.selectFrom('bodies').select('html').execute()).length
    const draft = await rig.create({}, { draft: true })
    const own = [{}, { html: '<p>Own</p>', fromName: 'Ann "A"' }]
    await changeDraft(rig.deps, billing, draft.id, { variants: own, variantTest: { share: 100 } })
    t.equal(await bodies(), 2)
    await changeDraft(rig.deps, billing, draft.id, { variants: own, variantTest: { share: 100 } })
    t.equal(await bodies(), 2, 'what it had is gone')
    await changeDraft(rig.deps, billing, draft.id, { name: 'x' })
    await sendDraft(rig.deps, billing, draft.id)
    await rig.expand()
    const mails = await store.read
      .selectFrom('emails')
      .innerJoin('bodies', 'bodies.id', 'emails.body_id')
      .select(['from_header', 'html', 'variant'])
      .distinct()
      .orderBy('variant')
      .execute()
    t.same(mails, [
      { from_header: 'News <news@sender.test>', html: '<p>x</p>', variant: 'A' },
      { from_header: '"Ann \\"A\\"" <news@sender.test>', html: '<p>Own</p>', variant: 'B' },
    ])
    const ended = { status: 'cancelled', ended_at: 1, expanded: 1 } as const
    await store.write(async (tx) => {
      await tx.updateTable('broadcasts').set(ended).execute()
      await tx.updateTable('emails').set({ body_id: null }).execute()
      const uses = (await tx.selectFrom('bodies').select('id as body_id').execute()).map((one) =>
        Object.assign(one, { uses: 0 }),
      )
      await tx.insertInto('body_uses').values(uses).execute()
    })
    const { signal } = new AbortController()
    t.equal(await forgetVariantBodies(store, { until: 1, signal }), 0)
    t.equal(await forgetVariantBodies(store, { until: 2, signal }), 1)
    t.equal(await bodies(), 1)
  },
)

t.test('each version carries the files of its campaign', async (t) => {
  const rig = await openCampaigns(t)
  const { store } = rig
  const billing = await readBilling(store.read, plans, rig.accountId)
  const file = (filename: string, text: string) => ({
    filename,
    content: Buffer.from(text).toString('base64'),
  })
  const draft = await rig.create({ attachments: [file('a.txt', 'Hello')] }, { draft: true })
  const change = (changes: object) => changeDraft(rig.deps, billing, draft.id, changes)
  const uses = async () =>
    (await store.read.selectFrom('contents').select(['size_bytes', 'uses']).execute())
      .toSorted((a, b) => a.size_bytes - b.size_bytes)
      .map((one) => one.uses)
  const carried = async () =>
    (await store.read.selectFrom('bodies').select('attachments').execute()).map(
      ({ attachments }) => JSON.parse(attachments ?? '[]')[0]?.filename,
    )
  await change({ variants: [{ subject: 'A' }, { html: '<p>Own</p>' }] })
  t.same(await carried(), ['a.txt', 'a.txt'])
  t.same(await uses(), [2])
  await change({ attachments: [file('b.txt', 'Longer')] })
  t.same(await carried(), ['b.txt', 'b.txt'])
  t.same(await uses(), [0, 2])
  await change({ variants: [{ html: '<p>A</p>' }, { html: '<p>B</p>' }] })
  t.same(await carried(), ['b.txt', 'b.txt', 'b.txt'])
  t.same(await uses(), [0, 3])
  await change({ variants: [], attachments: [] })
  t.same(await carried(), [undefined])
  t.same(await uses(), [0, 0])
})
