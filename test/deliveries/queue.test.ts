import t, { type Test } from 'tap'
import { clearPauses, pauseMarketing, pauseSending, suspend } from '../../src/billing/index.js'
import { utcTime } from '../../src/clock/index.js'
import {
  changeFitting,
  confirmRelayed,
  explainWaiting,
  findDeliveries,
  giveUp,
  hold,
  holdOverdue,
  listWaiting,
  measureDepth,
  nextDue,
  release,
  retry,
  type Settlement,
  settle,
  streamsAfter,
  summarise,
  surroundingsOf,
  type WaitingDelivery,
} from '../../src/deliveries/index.js'
import { makeLandEvents, readTimeline } from '../../src/events/index.js'
import { firstSerialAt } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { copiedMail } from '../support/copied-mail.js'
import { type OutboundRig, outboundRig, type RigOptions } from '../support/outbound.js'
import { poison } from '../support/poison.js'
import { turnsDuring } from '../support/turns.js'

const hourMs = 3_600_000
const land = makeLandEvents([])
const reason = 'the operator looks into it'

/** The outbound side with a clock of the test's, not started unless a test starts it. */
async function open(t: Test, options: RigOptions = {}) {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true, ...options })
  const { store } = rig
  const only = async (emailId: string): Promise<WaitingDelivery> => {
    const { waiting } = await findDeliveries(store.read, { emailId })
    const [delivery] = waiting
    if (delivery === undefined) throw new Error(`Nothing of ${emailId} waits`)
    return delivery
  }
  const change = (work: typeof giveUp, ids: number[]) =>
    store.write((tx) => work(tx, ids, { reason, now: clock.now(), land }))
  return {
    rig,
    clock,
    store,
    only,
    hold: (...ids: number[]) => change(hold, ids),
    release: (...ids: number[]) => change(release, ids),
    retry: (...ids: number[]) => change(retry, ids),
    giveUp: (...ids: number[]) => change(giveUp, ids),
    why: async (emailId: string) => {
      const delivery = await only(emailId)
      const around = await surroundingsOf(store.read, delivery, clock.now())
      return explainWaiting(delivery, around, clock.now())
    },
    take: (lane: string) => rig.take(lane, 10),
  }
}

/** Runs due work until the mail's recipient was tried `attempts` times. */
async function tried(rig: OutboundRig, id: string, attempts: number) {
  return rig.until(id, ({ recipients }) => recipients[0]?.attempts === attempts)
}

t.test(
  'what is held is claimed by nobody and due nowhere, and goes on when released',
  async (t) => {
    const { store, rig, clock, only, take, ...queue } = await open(t)
    const held = await rig.send({ to: 'a@one.test' })
    const free = await rig.send({ to: 'b@two.test' })
    const { id, expiresAt } = await only(held)
    t.same(await queue.hold(id), { changed: 1, inFlight: 0 })
    t.same(await queue.hold(id), { changed: 0, inFlight: 0 }, 'once is enough')
    t.same(await take('one.test'), [])
    const far = Date.UTC(9000, 0, 1)
    const stream = { lane: 'one.test', class: 0, accountId: rig.accountId } as const
    t.equal(await nextDue(store.read, { node: 1, ...stream }), undefined)
    const lanes = await streamsAfter(store.read, 1, undefined, 10)
    t.match(lanes, [{ lane: 'one.test' }, { lane: 'two.test', dueAt: clock.now() }])
    t.ok((lanes[0]?.dueAt ?? 0) > far)
    t.match(await rig.email(held), { recipients: [{ status: 'queued', nextAttemptAt: null }] })
    t.match(await listWaiting(store.read, { held: true }, 10), [{ id, held: { reason } }])

    await clock.advance(6 * 24 * hourMs)
    t.same(await queue.release(id), { changed: 1, inFlight: 0 })
    t.same(await queue.release(id), { changed: 0, inFlight: 0 })
    t.equal((await only(held)).expiresAt, expiresAt + 6 * 24 * hourMs, 'its time stood still')
    await rig.start()
    await rig.becomes(held, 'delivered')
    await rig.becomes(free, 'delivered')
  },
)

t.test('a released mail that was scheduled for later still leaves at its time', async (t) => {
  const { clock, rig, only, ...queue } = await open(t)
  const at = clock.now() + 2 * hourMs
  const email = await rig.send({ to: 'a@one.test', scheduledAt: new Date(at).toISOString() })
  const { id } = await only(email)
  await queue.hold(id)
  t.match(await only(email), { held: { dueAt: at } })
  await clock.advance(hourMs)
  await queue.release(id)
  t.match(await only(email), { dueAt: at, held: null })
})

t.test('an attempt under way is never taken from its thread', async (t) => {
  const { rig, clock, only, why, store, ...queue } = await open(t, { script: { dot: 'hang' } })
  const email = await rig.send({ to: 'a@one.test' })
  await rig.start()
  await rig.mx.waitUntil(() => rig.mx.unaccepted.length > 0)
  const { id } = await only(email)
  const since = utcTime(clock.now())
  t.match(await why(email), { gate: 'in-flight', says: `An attempt is under way since ${since}` })
  for (const change of ['hold', 'retry', 'giveUp'] as const) {
    t.same(await queue[change](id), { changed: 0, inFlight: 1 }, change)
  }
  t.match(await only(email), { lease: 0, held: null }, 'it is as it was')
  // The attempt ends as if nobody had asked, and what it came to counts.
  const stopped = rig.stop(0)
  await clock.advance(1)
  await stopped
  t.match(await rig.email(email), { status: 'sent', recipients: [{ attempts: 1 }] })
  t.same(await queue.hold(id), { changed: 1, inFlight: 0 }, 'now it can be held')
})

t.test('a lease that has run out is no attempt: its thread is gone', async (t) => {
  const { rig, clock, only, take, store, ...queue } = await open(t)
  const email = await rig.send({ to: 'a@one.test' })
  const [claimed] = await take('one.test')
  await clock.advance(hourMs)
  const { id } = await only(email)
  t.same(await queue.giveUp(id), { changed: 1, inFlight: 0 })
  // Should its thread live after all, what it has to say comes too late.
  const late: Settlement = {
    kind: 'delivered',
    id,
    emailId: email,
    accountId: rig.accountId,
    class: 0,
    recipient: 'a@one.test',
    attempts: 1,
    startedAt: clock.now(),
    reply: '250 ok',
    remote: null,
    tls: null,
    transcript: '',
  }
  t.equal(claimed?.id, id)
  t.equal(await store.write((tx) => settle(tx, [late], { lease: 0, now: clock.now(), land })), 0)
  t.match(await rig.email(email), { status: 'failed', recipients: [{ status: 'failed' }] })
})

t.test('what is given up has failed, with the reason', async (t) => {
  const { rig, only, store, clock, ...queue } = await open(t, {
    script: { rcpt: '451 4.7.1 Greylisted, come back' },
  })
  const tried1 = await rig.send({ to: ['a@one.test', 'b@one.test'] })
  await rig.start()
  await rig.until(tried1, ({ recipients }) => recipients.every((r) => r.attempts === 1))
  await rig.stop()
  const fresh = await rig.send({ to: 'c@one.test' })
  const { waiting } = await findDeliveries(store.read, { emailId: tried1 })
  const [first, second] = waiting.map(({ id }) => id)

  t.same(await queue.giveUp(first ?? 0), { changed: 1, inFlight: 0 })
  t.match(await rig.email(tried1), {
    status: 'sent',
    recipients: [
      {
        email: 'a@one.test',
        status: 'failed',
        attempts: 1,
        reply: `Given up by the operator: ${reason}. The last reply: 451 4.7.1 Greylisted, come back`,
      },
      { email: 'b@one.test', status: 'deferred' },
    ],
  })
  await queue.hold(second ?? 0)
  await queue.giveUp(second ?? 0, (await only(fresh)).id)
  t.match(await rig.email(tried1), { status: 'failed', recipients: [{}, { status: 'failed' }] })
  t.match(await rig.email(fresh), {
    status: 'failed',
    sentAt: null,
    recipients: [{ reply: `Given up by the operator: ${reason}`, attempts: 0 }],
  })
  t.same(await listWaiting(store.read, {}, 10), [])
  const { ended } = await findDeliveries(store.read, { id: first ?? 0 })
  t.match(ended, [{ status: 'failed', transcript: /RCPT TO/, acceptedAt: clock.now() }])
  t.same(await queue.giveUp(first ?? 0), { changed: 0, inFlight: 0 }, 'ended once')
})

t.test(
  'an operator retries what was deferred; a scheduled mail does not leave early',
  async (t) => {
    const { rig, clock, only, why, ...queue } = await open(t, {
      script: { rcpt: '451 4.7.1 Greylisted, come back' },
    })
    const deferred = await rig.send({ to: 'a@one.test' })
    const at = clock.now() + 24 * hourMs
    const scheduled = await rig.send({ to: 'b@one.test', scheduledAt: new Date(at).toISOString() })
    await rig.start()
    await tried(rig, deferred, 1)
    const { dueAt } = await only(deferred)
    t.match(await why(deferred), {
      gate: 'greylisted',
      says: /451 4\.7\.1 Greylisted/,
      until: dueAt,
    })
    t.match(await why(scheduled), { gate: 'scheduled', until: at })
    const ids = [(await only(deferred)).id, (await only(scheduled)).id]
    t.same(await queue.retry(...ids), { changed: 1, inFlight: 0 })
    t.equal((await only(deferred)).dueAt, clock.now())
    // Nobody rang: a scan finds it.
    await clock.advance(31_000)
    await tried(rig, deferred, 2)
    t.equal((await only(scheduled)).dueAt, at)
    rig.mx.change({ rcpt: '421 4.3.2 shutting down' })
    await queue.retry(...ids)
    await clock.advance(31_000)
    await tried(rig, deferred, 3)
    t.match(await why(deferred), { gate: 'deferred', says: /421 4\.3\.2 shutting down/ })
    await queue.hold(...ids)
    t.same(await queue.retry(...ids), { changed: 0, inFlight: 0 }, 'nor does what is held')
  },
)

t.test('why is it waiting? names the first gate that is closed', async (t) => {
  const { rig, store, clock, only, why, take, ...queue } = await open(t)
  const first = await rig.send({ to: 'a@one.test' })
  await clock.advance(1)
  const second = await rig.send({ to: 'b@one.test' })
  t.match(await why(first), { gate: 'due', says: /takes it within half a minute/, until: null })
  await rig.take('one.test', 1)
  t.match(await why(second), {
    gate: 'lane',
    says: 'It is due and in line: 1 attempt is under way to one.test, and 0 transactional deliveries come before it',
  })
  const delivery = await only(second)
  const around = await surroundingsOf(store.read, delivery, clock.now())
  const until = clock.now() + 60_000
  t.same(
    explainWaiting(delivery, around, clock.now(), { gate: 'warm-up', says: '50 an hour', until }),
    { gate: 'warm-up', says: '50 an hour', until },
    'a thread knows better',
  )
  await store.write((tx) => suspend(tx, rig.accountId, 'unpaid'))
  t.match(await why(second), { gate: 'account', says: 'The account is suspended: unpaid' })
  await queue.hold(delivery.id)
  t.match(await why(second), { gate: 'held', says: `Held: ${reason}`, until: null })
})

t.test('filters choose by mail, account, domain, class, age and hold', async (t) => {
  const { rig, store, clock, only, ...queue } = await open(t)
  const old = await rig.send({ to: 'a@one.test' })
  await clock.advance(2 * hourMs)
  const young = await rig.send({ to: ['b@one.test', 'c@two.test'] })
  await queue.hold((await only(old)).id)
  await store.write((tx) =>
    tx.updateTable('queue').set({ class: 2 }).where('recipient', '=', 'c@two.test').execute(),
  )
  const chosen = async (filter: Parameters<typeof listWaiting>[1]) =>
    (await listWaiting(store.read, filter, 10)).map(({ recipient }) => recipient)
  t.same(await chosen({}), ['a@one.test', 'b@one.test', 'c@two.test'])
  t.same(await chosen({ emailId: young }), ['b@one.test', 'c@two.test'])
  t.same(await chosen({ accountId: 'another' }), [])
  t.same(await chosen({ lane: 'one.test' }), ['a@one.test', 'b@one.test'])
  t.same(await chosen({ class: 2 }), ['c@two.test'])
  t.same(await chosen({ acceptedBefore: clock.now() - hourMs }), ['a@one.test'])
  t.same(await chosen({ held: true, lane: 'one.test' }), ['a@one.test'])
  t.same(await chosen({ held: false, lane: 'one.test' }), ['b@one.test'])

  t.match(await summarise(store.read, {}, { now: clock.now(), lanes: 1 }), {
    classes: [
      { class: 'transactional', waiting: 2, due: 1, held: 1, scheduled: 0, deferred: 0 },
      { class: 'campaign', waiting: 1, due: 1, held: 0, oldestAt: clock.now() },
    ],
    lanes: [{ lane: 'one.test', waiting: 2, oldestAt: clock.now() - 2 * hourMs }],
  })
  await store.write((tx) => pauseMarketing(tx, rig.accountId, 'complaint'))
  t.match(await summarise(store.read, {}, { now: clock.now(), lanes: 2 }), {
    classes: [
      { class: 'transactional', due: 1, stopped: 0 },
      { class: 'campaign', waiting: 1, due: 0, stopped: 1 },
    ],
    lanes: [{ lane: 'one.test', first: { class: 'transactional' } }, { first: undefined }],
  })
  t.match(await measureDepth(store), {
    transactional: { deliveries: 2, oldestAt: clock.now() - 2 * hourMs, dueAt: Number },
    automation: { deliveries: 0, oldestAt: undefined, dueAt: undefined },
    campaign: { deliveries: 1, oldestAt: clock.now() },
  })
})

t.test('many are changed in short transactions, each one once', async (t) => {
  const { store, rig } = await open(t)
  const rows = Array.from({ length: 1_234 }, (_, i) => ({
    id: firstSerialAt(Date.UTC(2026, 10, 1)) + i,
    email_id: `e${i}`,
    account_id: rig.accountId,
    recipient: `u${i}@one.test`,
    lane: 'one.test',
    class: 0 as const,
    due_at: 0,
    lease: null,
    attempts: 1,
    expires_at: 1,
    last_attempt_at: null,
    last_reply: null,
    last_transcript: null,
  }))
  for (let i = 0; i < rows.length; i += 500) {
    await store.write((tx) =>
      tx
        .insertInto('queue')
        .values(rows.slice(i, i + 500))
        .execute(),
    )
  }
  const writes: number[] = []
  const progress: number[] = []
  const clock = { now: () => Date.now(), after: (_: number, wake: () => void) => instantly(wake) }
  const total = await changeFitting(
    { store, clock },
    { lane: 'one.test' },
    (tx, ids, now) => {
      writes.push(ids.length)
      return hold(tx, ids, { reason, now })
    },
    (seen) => progress.push(seen),
  )
  t.same(total, { seen: 1_234, changed: 1_234, inFlight: 0 })
  t.same(writes, [500, 500, 234])
  t.same(progress, [500, 1_000, 1_234])
  const none = await changeFitting({ store, clock }, { held: false }, (tx, ids, now) =>
    hold(tx, ids, { reason, now }),
  )
  t.same(none, { seen: 0, changed: 0, inFlight: 0 })
})

const instantly = (wake: () => void) => {
  setImmediate(wake)
  return () => {}
}

t.test('at a start, scheduled mail that is long overdue is held; the rest goes on', async (t) => {
  const { rig, clock, store, only, ...queue } = await open(t, {
    script: { rcpt: '451 4.7.1 Greylisted, come back' },
  })
  const at = (ms: number) => new Date(clock.now() + ms).toISOString()
  const retrying = await rig.send({ to: 'r@one.test' })
  await rig.start()
  await tried(rig, retrying, 1)
  await rig.stop()
  const longAgo = await rig.send({ to: ['a@one.test', 'b@two.test'], scheduledAt: at(hourMs) })
  const justNow = await rig.send({ to: 'c@one.test', scheduledAt: at(9.5 * hourMs) })
  const later = await rig.send({ to: 'd@one.test', scheduledAt: at(20 * hourMs) })
  const queued = await rig.send({ to: 'e@one.test' })
  t.same(await holdOverdue({ store, clock }), { deliveries: 0, oldestDueAt: undefined })
  const due = clock.now() + hourMs
  await clock.advance(10 * hourMs)
  t.same(await holdOverdue({ store, clock }), { deliveries: 2, oldestDueAt: due })
  t.same(await holdOverdue({ store, clock }), { deliveries: 0, oldestDueAt: undefined })
  const held = await listWaiting(store.read, { held: true }, 10)
  t.match(held, [
    { emailId: longAgo, held: { dueAt: due, reason: /overdue by more than an hour/ } },
    { emailId: longAgo },
  ])
  for (const free of [retrying, justNow, later, queued]) t.equal((await only(free)).held, null)

  await queue.release(...held.map(({ id }) => id))
  t.match(await only(longAgo), { dueAt: clock.now() })
  t.match(await holdOverdue({ store, clock }), { deliveries: 0 }, 'released is released')
})

t.test(
  'scheduled mail of an account that is paused at a start is held by nothing else',
  async (t) => {
    const { rig, clock, store, only } = await open(t)
    const at = (ms: number) => new Date(clock.now() + ms).toISOString()
    const id = await rig.send({ to: 'a@one.test', scheduledAt: at(hourMs) })
    await store.write((tx) => pauseSending(tx, rig.accountId, 'bounce'))
    await clock.advance(10 * hourMs)
    t.match(await holdOverdue({ store, clock }), { deliveries: 0 })
    t.equal((await only(id)).held, null)
    await store.write((tx) => clearPauses(tx, rig.accountId))
    await rig.start()
    await rig.becomes(id, 'delivered')
  },
)

t.test('what a smart host took on stays sent until a report says more', async (t) => {
  const { rig, clock, store, take } = await open(t)
  const id = await rig.send({ to: ['a@x.test', 'b@x.test', 'c@x.test'] })
  const taken = await take('x.test')
  const settleAs = (kinds: readonly ('relayed' | 'delivered')[]) => {
    const settlements = taken.map((delivery, i): Settlement => {
      const kind = kinds[i] ?? 'relayed'
      const ended = { startedAt: clock.now(), reply: '250 queued', remote: null, tls: null }
      const failover = kind === 'relayed'
      return { ...delivery, ...ended, attempts: 1, transcript: '', kind, failover }
    })
    const [first] = settlements
    const twice = first === undefined ? settlements : [...settlements, first]
    return store.write((tx) => settle(tx, twice, { lease: 0, now: clock.now(), land }))
  }
  t.equal(await settleAs(['relayed', 'delivered', 'relayed']), 3, 'each counts once')
  t.match(await rig.email(id), {
    status: 'sent',
    provider: 'failover',
    recipients: [{ status: 'sent' }, { status: 'delivered' }, { status: 'sent' }],
  })

  const confirm = (deliveryId = 0) =>
    store.write((tx) =>
      confirmRelayed(tx, { deliveryId, reply: '250 2.1.5 in', now: clock.now(), land }),
    )
  const [first, second, third] = taken.map((delivery) => delivery.id)
  t.equal(await confirm(first), true)
  t.equal(await confirm(first), false, 'the same report twice')
  t.equal(await confirm(second), false, 'it was delivered directly')
  t.match(await rig.email(id), { status: 'sent' }, 'one is still on its way')
  t.equal(await confirm(third), true)
  t.match(await rig.email(id), {
    status: 'delivered',
    provider: 'failover',
    recipients: [{ reply: '250 2.1.5 in' }, { reply: '250 queued' }, { status: 'delivered' }],
  })
  const events = await readTimeline(store.read, rig.accountId, id)
  t.same(
    events.map(({ type }) => type),
    ['sent', 'relayed', 'delivered', 'relayed', 'delivered', 'delivered'],
  )
})

t.test('a delivery that cannot be changed keeps no other from it, and is named', async (t) => {
  const { rig, clock, store, only } = await open(t)
  const ids = [await rig.send({ to: 'bad@x.test' }), await rig.send({ to: 'good@x.test' })]
  const [bad, good] = [await only(ids[0] ?? ''), await only(ids[1] ?? '')]
  await poison(store, 'update on queue', `old.id = ${bad.id}`)
  const held = changeFitting({ store, clock }, {}, (tx, some, now) =>
    hold(tx, some, { reason, now }),
  )
  await t.rejects(held, {
    name: 'OperatorError',
    message: `Delivery ${bad.id} cannot be changed, all else is (1): it is poisoned`,
  })
  t.equal((await only(good.emailId)).held?.reason, reason)
})

t.test("a campaign's mails are looked for some at a time among those of others", async (t) => {
  const { rig, store } = await open(t)
  const clock = { now: () => Date.now(), after: (_: number, wake: () => void) => instantly(wake) }
  await rig.send({ to: 'a@one.test' })
  await store.write(async (tx) => {
    const email = await copiedMail(tx)
    const row = await tx.selectFrom('queue').selectAll().executeTakeFirstOrThrow()
    for (const id of ['theirs', 'ours']) {
      await tx
        .insertInto('emails')
        .values({ ...email, id, broadcast_id: id })
        .execute()
    }
    for (let from = 1; from < 9_000; from += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, n) => ({
        ...row,
        id: row.id + from + n,
        class: 2 as const,
        email_id: (from + n) % 1_500 === 0 ? 'ours' : 'theirs',
      }))
      await tx.insertInto('queue').values(rows).execute()
    }
  })
  const held = (broadcastId: string) =>
    changeFitting({ store, clock }, { broadcastId, held: false }, (tx, ids, now) =>
      hold(tx, ids, { reason, now }),
    )
  t.same(await held('ours'), { seen: 6, changed: 6, inFlight: 0 })
  // Nothing is written for it, so that only the looks give turns.
  const { value, turns } = await turnsDuring(() => held('no one'))
  t.equal(value.seen, 0)
  t.ok(turns >= 4, `${turns} turns for others`)
})
