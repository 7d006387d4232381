import type { Insertable } from 'kysely'
import t from 'tap'
import { loadPlans, setMarketingPlan, suspend, unsuspend } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey, packageFile } from '../../src/config/index.js'
import { claim, makeReturnPaths, nextDue, streamsAfter } from '../../src/deliveries/index.js'
import { shardOf } from '../../src/outbound/index.js'
import { becomeNode, makeTurns, type QueueClass, type QueueRow } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { type OutboundRig, outboundRig, pass, shapedTo } from '../support/outbound.js'
import { aboutSqlite } from '../support/postgres.js'
import { collectStatements, planOf } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

t.test('a site that answers nothing holds up no other', async (t) => {
  const rig = await outboundRig(t, {
    script: { rcpt: (line) => (/@slow\.test/.test(line) ? 'hang' : '250 ok') },
    config: { maxConnections: 10 },
    shaping: `${shapedTo()}[domains."slow.test"]\nconnections = 3`,
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

t.test('sites that never greet us hold up none that answers, nor what else is new', async (t) => {
  const names = Array.from({ length: 60 }, (_, i) => `silent${i}.test`)
  const mxOf = (exchange: string) => ({ mx: [{ preference: 10, exchange }] })
  const silent = names.map((name) => [
    [name, mxOf(`mail.of-${name}`)],
    [`mail.of-${name}`, { a: ['127.0.0.2'] }],
  ])
  const good = ['known.test', 'new.test'].map((name) => [name, mxOf('mx.test')])
  const rig = await outboundRig(t, {
    dns: Object.fromEntries([...silent.flat(), ...good, ['mx.test', { a: ['127.0.0.1'] }]]),
    config: { maxConnections: 20 },
  })
  const deaf = await fakeMx(t, { host: '127.0.0.2', port: rig.mx.port, banner: 'hang' })
  await rig.becomes(await rig.send({ to: 'a@known.test' }), 'delivered')
  await Promise.all(names.map((name) => rig.send({ to: `a@${name}` })))
  await deaf.waitUntil(() => deaf.sessions.length >= 8)
  const ids = await Promise.all(
    ['known.test', 'new.test'].flatMap((name) =>
      Array.from({ length: 20 }, (_, i) => rig.send({ to: `b${i}@${name}` })),
    ),
  )
  for (const id of ids) await rig.becomes(id, 'delivered')
  t.ok(deaf.sessions.length <= 8, `${deaf.sessions.length} connections wait for a greeting`)
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

t.test('a stop during a claim leaves the mail as it was, not as a failed attempt', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const id = await rig.send({ to: 'a@one.test' })
  // Before the claim gets its turn, which begins once the way is known.
  let release = () => {}
  const blocked = rig.store.write(() => new Promise<void>((resolve) => (release = resolve)))
  await new Promise((resolve) => setImmediate(resolve))
  const stopped = rig.stop(1_000)
  await clock.advance(1_000)
  release()
  await blocked
  await stopped
  const untouched = { lease: null, attempts: 0, due_at: clock.now() - 1_000, last_reply: null }
  t.same(await queued(rig), [untouched])
  t.equal(rig.mx.sessions.length, 0)
  await rig.start()
  await rig.becomes(id, 'delivered')
})

t.test('what a stop breaks off before its dot is as it was', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, script: { banner: 'hang' } })
  await rig.send({ to: 'a@one.test' })
  await rig.mx.waitUntil(() => rig.mx.sessions.length > 0)
  await clock.advance(5_000)
  const stopped = rig.stop(1_000)
  await clock.advance(1_000)
  await stopped
  const untouched = { lease: null, attempts: 0, due_at: clock.now() - 6_000, last_reply: null }
  t.same(await queued(rig), [untouched])
})

t.test('a clock set forward by hours lets nobody have a mail twice', async (t) => {
  const clock = new FakeClock()
  const script = { dot: { reply: '250 ok', delayMs: 300 } }
  const rig = await outboundRig(t, { clock, script, shaping: shapedTo({ connections: 6 }) })
  const ids = [await rig.send({ to: 'a@one.test' }), await rig.send({ to: 'b@one.test' })]
  const begun = () => rig.mx.sessions.filter(({ commands }) => commands.includes('DATA')).length
  await rig.mx.waitUntil(() => begun() === 2)
  // Their leases are over.
  await clock.advance(2 * 3_600_000)
  for (const id of ids) await rig.becomes(id, 'delivered')
  await pass(rig, clock, 2 * 3_600_000, 3_600_000)
  t.equal(rig.mx.messages.length, 2)
  t.equal(begun(), 2)
})

t.test('a thread that died left leases: its successor takes them at once', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const id = await rig.send({ to: 'a@one.test' })
  // As a thread does that is killed between its claim and its attempt.
  await rig.take('one.test', 1)
  t.equal((await rig.email(id)).status, 'sending')
  await rig.start()
  await rig.becomes(id, 'delivered')
  t.equal(rig.mx.messages.length, 1)
})

// Over PostgreSQL an epoch that nobody holds writes nothing: test/nodes/two.test.ts kills real ones.
t.test('leases of threads that are no more are free at the next start', aboutSqlite, async (t) => {
  const turns = makeTurns()
  const rig = await outboundRig(t, { clock: new FakeClock(), stopped: true, turns })
  const id = await rig.send({ to: 'a@one.test' })
  // There were three threads when the process was killed, and there is one now, of another epoch.
  becomeNode(turns, { number: 1, epoch: 1 })
  await rig.take('one.test', 1, 2)
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
  const other = await unrung.send({ to: 'a@one.test' })
  await unrung.becomes(other, 'delivered')
  await unrung.store.write(async (tx) => {
    await tx
      .insertInto('queue')
      .values({
        id: 1,
        email_id: other,
        account_id: unrung.accountId,
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
  await unrung.mx.waitForMessages(2)
})

t.test('a claim takes what is due of each stream, the longest due first', async (t) => {
  const store = await openTestStore(t)
  const row = (
    id: number,
    dueAt: number,
    more: Partial<Insertable<QueueRow>> = {},
  ): Insertable<QueueRow> => ({
    id,
    email_id: 'e',
    account_id: 'x',
    recipient: `r${id}@a.test`,
    lane: 'a.test',
    class: 0,
    due_at: dueAt,
    lease: null,
    attempts: 0,
    expires_at: 10_000,
    last_attempt_at: null,
    last_reply: null,
    last_transcript: null,
    ...more,
  })
  const rows = [
    row(1, 50),
    row(2, 40),
    row(3, 500),
    row(4, 1, { account_id: 'y' }),
    row(5, 2, { class: 2 }),
    row(6, 1, { lane: 'b.test' }),
  ]
  await store.write(async (tx) => {
    for (const values of rows) await tx.insertInto('queue').values(values).execute()
  })
  const stream = (accountId: string, of: QueueClass = 0, lane = 'a.test') => ({
    lane,
    class: of,
    accountId,
  })
  const take = async (...wants: Parameters<typeof claim>[1]) => {
    const claims = await store.write((tx) => claim(tx, wants, { now: 100, node: 1, lease: 3 }))
    return claims.map(({ taken, ...rest }) => ({ ids: taken.map(({ id }) => id), ...rest }))
  }
  t.same(await take({ ...stream('x'), limit: 1 }, { ...stream('y'), limit: 1 }), [
    { ids: [2] },
    { ids: [4] },
  ])
  t.same(await take({ ...stream('x'), limit: 3 }), [{ ids: [1], exhausted: { nextDueAt: 500 } }])
  t.equal(await nextDue(store.read, { node: 1, ...stream('x', 0, 'nobody.test') }), undefined)
  t.same(await streamsAfter(store.read, 1, undefined, 10), [
    { ...stream('x'), dueAt: 500 },
    { ...stream('y'), dueAt: 100 + 3_600_000 },
    { ...stream('x', 2), dueAt: 2 },
    { ...stream('x', 0, 'b.test'), dueAt: 1 },
  ])
  t.same(await streamsAfter(store.read, 1, stream('y'), 1), [{ ...stream('x', 2), dueAt: 2 }])
  t.same(await streamsAfter(store.read, 1, stream('x', 0, 'b.test'), 5), [])
})

t.test(
  'the next stream is searched for, however many rows the one before it has',
  aboutSqlite,
  async (t) => {
    const { read } = await openTestStore(t)
    const statements = collectStatements(t)
    await streamsAfter(read, 1, undefined, 10)
    const [statement = ''] = [...statements].filter((text) => text.includes('recursive streams'))
    const searches = (await planOf(read, statement)).filter((line) => line.includes('queue_stream'))
    const wide = searches.filter((line) => !line.includes('account_id'))
    t.equal(searches.length, 7, 'two steps to the next of three searches each, and the time')
    t.equal(
      wide.filter((line) => /lane=\? AND class>\?|node=\? AND lane>\?\)/.test(line)).length,
      4,
    )
    t.equal(searches.filter((line) => line.includes('account_id>?')).length, 2)
  },
)

t.test('a campaign that fills a destination delays no transactional mail to it', async (t) => {
  const rig = await outboundRig(t, {
    script: { dot: { reply: '250 ok', delayMs: 10 } },
    shaping: shapedTo({ connections: 5 }),
    stopped: true,
  })
  const plans = loadPlans(packageFile('config/plans.toml'))
  await rig.store.write((tx) => setMarketingPlan(tx, rig.accountId, plans.marketing[0] ?? null))
  const campaign = 200
  for (let i = 0; i < campaign; i++) {
    await rig.send({ to: `c${i}@one.test`, type: 'marketing', html: '<p>Sale</p>' })
  }
  await rig.start()
  await rig.mx.waitForMessages(20)
  const before = rig.mx.messages.length
  const resets = await Promise.all(
    Array.from({ length: 10 }, (_, i) => rig.send({ to: `r${i}@one.test` })),
  )
  for (const id of resets) await rig.becomes(id, 'delivered')
  const arrived = rig.mx.messages.slice(before).map((message) => message.to[0] ?? '')
  const last = arrived.findLastIndex((to) => to.startsWith('r'))
  const overtaken = arrived.slice(0, last).filter((to) => to.startsWith('c')).length
  t.ok(overtaken < 60, `${overtaken} of ${campaign} campaign mails came in between`)
  await rig.mx.waitForMessages(campaign + resets.length)
})

t.test(
  'transactional mail ends the rest between two claims, a campaign waits for its end',
  async (t) => {
    const { after } = systemClock
    t.teardown(() => Object.assign(systemClock, { after }))
    // Rests end by nothing but a call of their `wake`, or by who does not wait for that.
    const rests = new Set<() => void>()
    systemClock.after = (ms, wake) => {
      if (ms !== 25) return after(ms, wake)
      rests.add(wake)
      return () => rests.delete(wake)
    }
    const rig = await outboundRig(t, {
      script: { rcpt: (line) => (/@slow\.test/.test(line) ? 'hang' : '250 ok') },
    })
    await rig.send({ to: 'a@slow.test' })
    await rig.eventually(() => rests.size === 1)
    rig.ring('one.test', 2)
    t.equal(rests.size, 1, 'mail is under way, and a campaign waits')
    const reset = await rig.send({ to: 'r@one.test' })
    await rig.becomes(reset, 'delivered')
    for (const end of rests) end()
  },
)

t.test('mail of an account that is stopped waits, and leaves when it may again', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.store.write((tx) => suspend(tx, rig.accountId, 'complaints'))
  await rig.start()
  await clock.advance(45_000)
  t.match(await rig.email(id), { status: 'queued', recipients: [{ attempts: 0 }] })
  await rig.store.write((tx) => unsuspend(tx, rig.accountId))
  await clock.advance(30_000)
  await rig.becomes(id, 'delivered')
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

async function queued({ store }: OutboundRig) {
  const rows = store.read.selectFrom('queue')
  return await rows.select(['lease', 'attempts', 'due_at', 'last_reply']).execute()
}
