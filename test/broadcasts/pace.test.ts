import t from 'tap'
import { readBilling } from '../../src/billing/index.js'
import {
  campaignsBetween,
  campaignsSince,
  campaignsWait,
  cancelRest,
  changeDraft,
  makeNotice,
  pauseBroadcast,
  pauseOverdue,
  resumeBroadcast,
  sendDraft,
  takeBack,
} from '../../src/broadcasts/index.js'
import { type SendWindow, turnOf } from '../../src/broadcasts/pace.js'
import { createSegment } from '../../src/segments/index.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

type Rig = Awaited<ReturnType<typeof openCampaigns>>
const minute = 60_000
const hour = 3_600_000

/** When each mail may leave, from `since` on, by recipient. */
async function leaving({ store }: Rig, since: number) {
  const rows = await store.read
    .selectFrom('queue')
    .select(['recipient', 'due_at as dueAt'])
    .orderBy('due_at')
    .orderBy('id')
    .execute()
  return rows.map(({ recipient, dueAt }) => [recipient, dueAt - since] as const)
}

/** Goes on as the appliance does, every so often for so long, while there is something to do. */
async function run(rig: Rig, clock: FakeClock, ms: number, stepMs = 5_000) {
  for (let at = 0; at < ms; at += stepMs) {
    if (await campaignsWait(rig)) await rig.expand()
    await clock.advance(stepMs)
  }
}

t.test(
  'a rate makes a minute ahead, goes on without a gap, and catches up with nothing',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(40)
    const begun = clock.now()
    const made = await rig.create({ rate: 600 })
    await rig.expand()
    t.same(
      (await leaving(rig, begun)).map(([, at]) => at),
      Array.from({ length: 10 }, (_, n) => n * 6_000),
    )
    t.equal(await campaignsWait(rig), false, 'nothing more may be made')
    await run(rig, clock, 2 * minute)
    const after = await leaving(rig, begun)
    t.ok(after.length >= 20 && after.length <= 30, `${after.length}`)
    t.same(
      after.map(([, at]) => at),
      after.map((_, n) => n * 6_000),
      'evenly',
    )
    await pauseBroadcast(rig, made, { reason: 'x', byAccount: true })
    await run(rig, clock, 20 * minute, minute)
    t.equal((await leaving(rig, begun)).length, after.length)
    await resumeBroadcast(rig, made, { byAccount: true })
    const resumed = clock.now() - begun
    await rig.expand()
    const late = (await leaving(rig, begun)).slice(after.length)
    t.ok(late.length <= 10 && late.every(([, at]) => at >= resumed), 'what was missed is no burst')
    await run(rig, clock, 5 * minute)
    const all = await leaving(rig, begun)
    t.equal(new Set(all.map(([to]) => to)).size, 40, 'everybody once')
    t.equal(all.length, 40)
    t.match(await rig.find(made.id), { expanded: 1, recipients: 40 })
  },
)

t.test(
  'a rate is changed while it sends, and a clock that is set back holds up nothing',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(30)
    const made = await rig.create({ rate: 1 })
    await rig.expand()
    t.match(await rig.find(made.id), { recipients: 1 })
    await clock.advance(2 * minute)
    t.equal(await campaignsWait(rig), false)
    t.same(await pauseOverdue(rig), [], 'it waits by itself')
    const billing = await readBilling(rig.store.read, plans, rig.accountId)
    await changeDraft(rig.deps, billing, made.id, { rate: 600 })
    await rig.expand()
    t.match(await rig.find(made.id), { recipients: 11 })
    for (let again = 0; again < 5; again++) {
      await changeDraft(rig.deps, billing, made.id, { rate: 600 })
      await rig.expand()
    }
    t.match(await rig.find(made.id), { recipients: 11 }, 'a change sends no minute more')
    await t.rejects(changeDraft(rig.deps, billing, made.id, { subject: 'y', rate: 1 }), {
      code: 'conflict',
    })
    clock.setBack(5 * hour)
    t.equal(await campaignsWait(rig), true)
    await rig.expand()
    t.match(await rig.find(made.id), { recipients: 21 })
    await changeDraft(rig.deps, billing, made.id, { rate: 'none' })
    await rig.expand()
    t.match(await rig.find(made.id), { recipients: 30, expanded: 1, rate: null })
  },
)

t.test(
  'nothing is made outside of the hours, and the campaign says what it waits for',
  async (t) => {
    // A Saturday, noon in UTC.
    const clock = new FakeClock(Date.parse('2026-11-28T12:00:00Z'))
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(5)
    const window = { from: '09:00', to: '10:00', days: [1], zone: 'Africa/Lagos' }
    const made = await rig.create({ window })
    await rig.expand()
    t.match(await rig.find(made.id), {
      recipients: 0,
      // Nothing of it is made: it can be taken back, and has not begun.
      status: 'scheduled',
      sent_at: null,
      reason: /waits for the hours in which it leaves: they begin at /,
    })
    t.equal(await campaignsWait(rig), false)
    const on = (day: number) => Date.parse(`2026-11-${day}T00:00:00Z`)
    const dated = async (day: number) =>
      (
        await campaignsBetween(rig.store.read, rig.accountId, {
          from: on(day),
          to: on(day) + 24 * hour,
          limit: 9,
        })
      ).map(({ at }) => new Date(at).toISOString())
    t.same(await dated(28), [], 'nor does it stand on the day on which it was sent')
    const monday = Date.parse('2026-11-30T08:00:00Z')
    t.same(await dated(30), ['2026-11-30T08:00:00.000Z'])
    t.equal((await campaignsSince(rig.store.read, rig.accountId, 0)).length, 0)
    const billing = await readBilling(rig.store.read, plans, rig.accountId)
    const tuesday = Object.assign({}, window, { days: [2] })
    await changeDraft(rig.deps, billing, made.id, { window: tuesday })
    t.match(await rig.find(made.id), { reason: /begin at / })
    await pauseBroadcast(rig, made, { reason: 'x', byAccount: true })
    await resumeBroadcast(rig, made, { byAccount: true })
    t.match(await rig.find(made.id), { status: 'scheduled', reason: /begin at 2026-12-01 08:00/ })
    await changeDraft(rig.deps, billing, made.id, { window })
    await takeBack(rig, rig.accountId, made.id)
    t.match(await rig.find(made.id), { status: 'draft', next_at: null, reason: null })
    await sendDraft(rig.deps, billing, made.id)
    t.match(await rig.find(made.id), { status: 'scheduled', recipients: 0 })
    await clock.advance(40 * hour)
    t.same(await pauseOverdue(rig), [], 'nor is it overdue before they come')
    await clock.advance(3 * hour + 59 * minute)
    t.equal(await campaignsWait(rig), true)
    await rig.expand()
    t.match(await rig.find(made.id), { recipients: 5, expanded: 1, reason: null })
    t.same(new Set((await leaving(rig, monday)).map(([, at]) => at)), new Set([0]), 'at nine')
    const never = { ...window, to: '09:00' }
    await t.rejects(rig.create({ window: never }), { message: /window\.to/ })
  },
)

t.test('hours hold across clock changes in four zones, whatever the rate', async (t) => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Lagos']
  const changes = [
    '2026-03-07',
    '2026-03-28',
    '2026-04-04',
    '2026-10-03',
    '2026-10-24',
    '2026-10-31',
  ]
  const windows = [
    { from: '00:30', to: '03:30' },
    { from: '22:00', to: '04:30', days: [6, 7] },
    { from: '00:00', to: '24:00', days: [7] },
  ]
  let seen = 0
  for (const zone of zones) {
    const shown = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    for (const window of windows) {
      const isOpen = (ms: number) => isWithin(window, shown.formatToParts(ms))
      for (const day of changes) {
        const from = Date.parse(`${day}T00:00:00Z`)
        for (let now = from; now < from + 48 * hour; now += 7 * minute) {
          const row = {
            rate: 1_000,
            send_window: JSON.stringify({ ...window, zone } satisfies SendWindow),
            paced_to: null,
            waiting: 0,
          }
          const turn = turnOf(row as never, now, 0)
          const times = Array.from({ length: turn.most }, (_, n) => turn.leavesAt(n))
          if (!times.every(isOpen))
            t.fail(`${zone} ${JSON.stringify(window)} ${new Date(now).toISOString()}`)
          if (turn.most === 0 && isOpen(now + 30_000) && isOpen(now))
            t.fail(`closed at ${now} ${zone}`)
          seen += times.length
        }
      }
    }
  }
  t.ok(seen > 10_000)
})

/** By what a clock shows, and nothing of ours. */
function isWithin(
  { from, to, days }: { from: string; to: string; days?: number[] },
  parts: Intl.DateTimeFormatPart[],
): boolean {
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  const time = `${part('hour')}:${part('minute')}`
  const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(part('weekday')) + 1
  const on = (which: number) => days === undefined || days.includes(which)
  if (from < to) return on(day) && time >= from && time < to
  return (on(day) && time >= from) || (on(day === 1 ? 7 : day - 1) && time < to)
}

t.test(
  'each gets it at one time of their own clock, once, whatever is killed or comes twice',
  async (t) => {
    const clock = new FakeClock(Date.parse('2026-12-01T00:00:00Z'))
    const rig = await openCampaigns(t, { clock })
    const zones = {
      a: 'Pacific/Auckland',
      b: 'Europe/Berlin',
      c: 'America/New_York',
      d: 'Nowhere/At_All',
    }
    for (const [name, timeZone] of Object.entries(zones)) {
      await rig.add(`${name}@x.test`, { metadata: { timeZone } })
    }
    await rig.add('e@x.test')
    const gone = await rig.add('gone@x.test', { metadata: { timeZone: 'America/New_York' } })
    const nine = '2026-12-03T09:00:17+01:00'
    const made = await rig.create({ scheduledAt: nine, localTimeOf: 'Europe/Berlin' })
    t.match(made, { status: 'scheduled', scheduled_at: Date.parse(nine) })
    // Nine in Kiritimati.
    const first = Date.parse('2026-12-02T19:00:17Z')
    await clock.advance(first - clock.now() - 1_000)
    t.equal(await campaignsWait(rig), false)
    await clock.advance(2_000)
    await rig.expand()
    t.match(await rig.find(made.id), {
      status: 'sending',
      recipients: 0,
      expanded: 0,
      reason: 'It goes on at 2026-12-02 19:59 UTC, by its recipients’ clocks',
    })
    await rig.store.write((tx) =>
      tx.deleteFrom('list_members').where('contact_id', '=', gone.id).execute(),
    )
    const stale = await rig.find(made.id)
    await run(rig, clock, 22 * hour, 30_000)
    // An expander that has read before, as beside another one.
    await rig.store.write((tx) =>
      tx
        .updateTable('broadcasts')
        .set({ expanded: 0, cursor: stale.cursor })
        .where('id', '=', made.id)
        .execute(),
    )
    await rig.expand()
    t.same(await leaving(rig, Date.parse(nine)), [
      ['a@x.test', -12 * hour],
      ['b@x.test', 0],
      ['d@x.test', 0],
      ['e@x.test', 0],
      ['c@x.test', 6 * hour],
    ])
    t.match(await rig.find(made.id), { expanded: 1, recipients: 5 })
    await t.rejects(rig.create({ localTimeOf: 'Europe/Berlin' }), { code: 'validation_error' })

    const other = await rig.create({
      scheduledAt: '2026-12-09T09:00:00Z',
      localTimeOf: 'Europe/Berlin',
    })
    await clock.advance(Date.parse('2026-12-08T21:00:00Z') - clock.now())
    await rig.expand()
    const later = () => rig.store.read.selectFrom('broadcast_later').select('contact_id').execute()
    t.ok((await later()).length > 0)
    await cancelRest(rig, rig.accountId, other.id)
    t.same(await later(), [], 'who would come later is forgotten with it')
  },
)

t.test('a segment that somebody changes meanwhile is waited for', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  const people = await rig.addMany(3)
  const rule = { field: 'contact.email', operator: 'exists' } as const
  const segment = await createSegment(rig, rig.accountId, { name: 'All', rule })
  const fill = (state: 'filling' | 'current') =>
    rig.store.write((tx) =>
      tx.updateTable('segments').set({ state }).where('id', '=', segment.id).execute(),
    )
  await rig.store.write((tx) =>
    tx
      .insertInto('segment_members')
      .values(
        people.map(({ contact }) => ({ segment_id: segment.id, contact_id: contact.id, since: 1 })),
      )
      .execute(),
  )
  await rig.store.write((tx) => tx.deleteFrom('segment_changes').execute())
  await rig.store.write((tx) =>
    tx
      .updateTable('segments')
      .set({ state: 'current', count: 3 })
      .where('id', '=', segment.id)
      .execute(),
  )
  const made = await rig.create({ listId: undefined, audience: { segments: [segment.id] } })
  await rig.store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ status: 'sending', sent_at: 1, expanded_at: 1 })
      .where('id', '=', made.id)
      .execute(),
  )
  await fill('filling')
  await rig.expand()
  t.match(await rig.find(made.id), { recipients: 0, reason: /"All" is being filled/ })
  await fill('current')
  await clock.advance(5_000)
  await rig.expand()
  t.match(await rig.find(made.id), { recipients: 3, reason: null, expanded: 1 })
})

t.test(
  'a notice leaves once a day, whenever it is planned, and is asked again when it leaves',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(3)
    const billing = await readBilling(rig.store.read, plans, rig.accountId)
    const scheduledAt = new Date(clock.now() + 72 * hour).toISOString()
    const noticeOf = async (given: object) => {
      const { id } = await rig.create(given, { draft: true })
      await makeNotice(rig, rig.accountId, id, 'We have new terms')
      return id
    }
    const send = (id: string) => sendDraft(rig.deps, billing, id, undefined, { byOwner: true })
    const first = await noticeOf({ scheduledAt })
    await send(first)
    await t.rejects(send(await noticeOf({ scheduledAt })), { message: /another one does on/ })
    const now = await noticeOf({})
    await send(now)
    await rig.expand()
    await cancelRest(rig, rig.accountId, now)
    await t.rejects(
      send(await noticeOf({})),
      { code: 'conflict' },
      'what has left counts, cancelled or not',
    )
    // As if both had been planned before either was.
    const twin = await noticeOf({ scheduledAt })
    await rig.store.write((tx) =>
      tx.updateTable('broadcasts').set({ status: 'scheduled' }).where('id', '=', twin).execute(),
    )
    await clock.advance(73 * hour)
    await rig.expand()
    const found = [await rig.find(first), await rig.find(twin)]
    t.same(found.map(({ status }) => status).sort(), ['failed', 'sending'])
  },
)

t.test(
  'by everybody’s own clock, too, nothing leaves in the minute in which it is taken back',
  async (t) => {
    const clock = new FakeClock()
    const rig = await openCampaigns(t, { clock })
    await rig.addMany(2)
    const billing = await readBilling(rig.store.read, plans, rig.accountId)
    const scheduledAt = new Date(clock.now() + 5 * minute).toISOString()
    const { id } = await rig.create({ scheduledAt, localTimeOf: 'UTC' }, { draft: true })
    await clock.advance(10 * minute)
    await sendDraft(rig.deps, billing, id, undefined, { notBefore: clock.now() + minute })
    await rig.expand()
    t.match(await rig.find(id), { status: 'scheduled' })
    await takeBack(rig, rig.accountId, id)
    t.match(await rig.find(id), { status: 'draft', next_at: null })
  },
)
