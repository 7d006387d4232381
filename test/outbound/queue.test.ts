import t from 'tap'
import { makeApplianceKey } from '../../src/config/index.js'
import { claim, lanesAfter, makeReturnPaths, nextDue } from '../../src/deliveries/index.js'
import { shardOf } from '../../src/outbound/index.js'
import { makeLanes } from '../../src/outbound/lanes.js'
import { makeTimeHeap } from '../../src/outbound/time-heap.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { openTestStore } from '../support/store.js'

t.test('a site that answers nothing holds up no other', async (t) => {
  const rig = await outboundRig(t, {
    script: { rcpt: (line) => (/@slow\.test/.test(line) ? 'hang' : '250 ok') },
    config: { connectionsPerDomain: 3, maxConnections: 10 },
    stopped: true,
  })
  const slow = await Promise.all(
    Array.from({ length: 100 }, (_, i) => rig.send({ to: `s${i}@slow.test` })),
  )
  const quick = await Promise.all(
    Array.from({ length: 20 }, (_, i) => rig.send({ to: `q${i}@d${i}.test` })),
  )
  await rig.start()
  for (const id of quick) await rig.becomes(id, 'delivered')
  const held = await rig.store.read
    .selectFrom('queue')
    .select('id')
    .where('lease', 'is not', null)
    .execute()
  t.equal(held.length, 3, 'the slow site has its connections and not one more')
  t.equal((await rig.email(slow[0] ?? '')).status, 'sending')
})

t.test('what was in flight at a stop is claimed again at the next start', async (t) => {
  const rig = await outboundRig(t, { script: { dot: 'hang' } })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.mx.waitUntil(() => rig.mx.unaccepted.length > 0)
  await rig.stop(0)
  rig.mx.change({})
  const email = await rig.email(id)
  t.match(email, {
    status: 'sent',
    recipients: [{ status: 'deferred', reply: /may have taken the message/ }],
  })
})

t.test('a thread that died left leases: its successor takes them at once', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const id = await rig.send({ to: 'a@one.test' })
  // As a thread does that is killed between its claim and its attempt.
  await rig.store.write((tx) =>
    claim(tx, {
      lane: 'one.test',
      limit: 1,
      now: clock.now(),
      thread: 0,
      leaseUntil: clock.now() + 3_600_000,
    }),
  )
  t.equal((await rig.email(id)).status, 'sending')
  await rig.start()
  await rig.becomes(id, 'delivered')
  t.equal(rig.mx.messages.length, 1)
})

t.test('a ring that got lost costs a scan interval, not the mail', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  await rig.stop()
  const id = await rig.send({ to: 'a@one.test' })
  const before = await rig.email(id)
  t.equal(before.status, 'queued')
  await rig.start()
  await rig.becomes(id, 'delivered')
  const unrung = await outboundRig(t, { clock })
  await unrung.store.write(async (tx) => {
    await tx
      .insertInto('queue')
      .values({
        id: 1,
        email_id: 'none',
        account_id: 'none',
        recipient: 'x@late.test',
        lane: 'late.test',
        class: 0,
        due_at: clock.now(),
        lease: null,
        attempts: 0,
        expires_at: clock.now() + 1e9,
        last_attempt_at: null,
        last_reply: null,
        last_transcript: null,
      })
      .execute()
  })
  await clock.advance(31_000)
  const attempts = async () =>
    (await unrung.store.read.selectFrom('queue').select('attempts').executeTakeFirst())?.attempts
  for (let i = 0; i < 200 && (await attempts()) !== 1; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.equal(await attempts(), 1, 'it was found')
})

t.test(
  'claims take transactional before automation before campaign, the longest due first',
  async (t) => {
    const store = await openTestStore(t)
    const row = (id: number, queueClass: 0 | 1 | 2, dueAt: number, lane = 'a.test') => ({
      id,
      email_id: 'e',
      account_id: 'x',
      recipient: `r${id}@a.test`,
      lane,
      class: queueClass,
      due_at: dueAt,
      lease: null,
      attempts: 0,
      expires_at: 10_000,
      last_attempt_at: null,
      last_reply: null,
      last_transcript: null,
    })
    await store.write((tx) =>
      tx
        .insertInto('queue')
        .values([
          row(1, 2, 10),
          row(2, 2, 5),
          row(3, 0, 50),
          row(4, 0, 40),
          row(5, 1, 1),
          row(6, 0, 500),
          row(7, 0, 1, 'b.test'),
        ])
        .execute(),
    )
    const options = { lane: 'a.test', now: 100, thread: 3, leaseUntil: 4_000 }
    const first = await store.write((tx) => claim(tx, { ...options, limit: 3 }))
    t.same(
      first.map((c) => c.id),
      [4, 3, 5],
    )
    const second = await store.write((tx) => claim(tx, { ...options, limit: 3 }))
    t.same(
      second.map((c) => c.id),
      [2, 1],
      'what is leased or not yet due is not there',
    )
    t.same(await lanesAfter(store.read, '', 10), [
      { lane: 'a.test', dueAt: 500 },
      { lane: 'b.test', dueAt: 1 },
    ])
    t.same(await lanesAfter(store.read, '', 1), [{ lane: 'a.test', dueAt: 500 }])
    t.same(await lanesAfter(store.read, 'a.test', 10), [{ lane: 'b.test', dueAt: 1 }])
    t.equal(await nextDue(store.read, 'a.test'), 500)
    t.equal(await nextDue(store.read, 'nobody.test'), undefined)
  },
)

t.test('lanes take their turns, and a note during a claim is not lost', async (t) => {
  const lanes = makeLanes()
  lanes.note({ lane: 'a', dueAt: 10 })
  lanes.note({ lane: 'b', dueAt: 5 })
  t.equal(lanes.next(4), undefined)
  t.equal(lanes.wakeAt(), 5)
  const b = lanes.next(10)
  const a = lanes.next(10)
  t.same([b?.name, a?.name, lanes.next(10)?.name], ['b', 'a', 'b'])
  if (a === undefined || b === undefined) throw new Error('both are due')
  lanes.park(b)
  t.equal(lanes.next(10)?.name, 'a')
  a.claiming = true
  lanes.note({ lane: 'a', dueAt: 11 })
  a.claiming = false
  lanes.exhausted(a, undefined)
  t.equal(lanes.next(10), undefined)
  t.equal(lanes.next(11), a)
  lanes.exhausted(a, undefined)
  lanes.unpark(b)
  t.equal(lanes.next(11), b)
})

t.test('the heap gives the earliest first, whatever the order of pushes', async (t) => {
  const heap = makeTimeHeap<number>()
  let seed = 42
  const times = Array.from({ length: 500 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % 1_000
  })
  for (const at of times) heap.push(at, at)
  const out: number[] = []
  for (let first = heap.first(); first !== undefined; first = heap.first()) {
    out.push(first.at)
    heap.pop()
  }
  t.same(
    out,
    times.toSorted((x, y) => x - y),
  )
})

t.test('lanes are spread over the threads, each always to the same', async (t) => {
  const counts = [0, 0, 0, 0]
  for (let i = 0; i < 4_000; i++) {
    const shard = shardOf(`d${i}.example`, 4)
    t.equal(shard, shardOf(`d${i}.example`, 4))
    counts[shard] = (counts[shard] ?? 0) + 1
  }
  t.ok(Math.min(...counts) > 800)
})

t.test('return paths name their delivery, and only ours do', async (t) => {
  const paths = makeReturnPaths(makeApplianceKey(Buffer.alloc(32, 1)))
  const others = makeReturnPaths(makeApplianceKey(Buffer.alloc(32, 2)))
  for (const id of [1, 4096, 2 ** 40 + 7, Number.MAX_SAFE_INTEGER]) {
    const address = paths.addressOf(id, 'bounce.a.test')
    t.equal(address.indexOf('@'), 31)
    t.equal(paths.deliveryOf(address), id)
    t.equal(paths.deliveryOf(address.toUpperCase()), id, 'relays fold case')
    t.equal(others.deliveryOf(address), undefined)
    t.equal(paths.deliveryOf(address.replace('bounce.a', 'bounce.b')), undefined)
    for (let at = 2; at < 31; at++) {
      const letter = address[at] === 'a' ? 'b' : 'a'
      const altered = address.slice(0, at) + letter + address.slice(at + 1)
      t.equal(paths.deliveryOf(altered), undefined)
    }
  }
  for (const bad of ['', 'x', 'ba@b', `ba${'a'.repeat(29)}@h`, `ba${'1'.repeat(29)}@h`]) {
    t.equal(paths.deliveryOf(bad), undefined)
  }
})
