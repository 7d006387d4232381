import { sql } from 'kysely'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import {
  changeFitting,
  expireOverdue,
  findDeliveries,
  giveUp,
  release,
} from '../../src/deliveries/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { type OutboundRig, outboundRig } from '../support/outbound.js'
import { poison } from '../support/poison.js'

const bad = 'bad@one.test'
const isBad = `new.recipient = '${bad}'`

const waiting = async ({ store }: OutboundRig, emailId: string) =>
  (await findDeliveries(store.read, { emailId })).waiting[0]

t.test('a result that cannot be written holds its delivery and no other', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const heal = await poison(rig.store, 'insert on events', isBad)
  const id = await rig.send({ to: bad })
  const given = ['a@one.test', 'b@one.test', 'c@two.test']
  const others = await Promise.all(given.map((to) => rig.send({ to })))
  await rig.start()
  for (const other of others) await rig.becomes(other, 'delivered')
  await rig.eventually(async () => (await waiting(rig, id))?.held != null)
  t.match(await waiting(rig, id), {
    held: {
      reason: /its last attempt ended as delivered, which cannot be written: it is poisoned/,
    },
    attempts: 1,
    lease: null,
    lastReply: /^250 /,
  })
  const reason = 'Internal error; the operator has to look into it'
  t.match((await rig.email(id)).held, { reason }, 'clients hear no detail')
  await rig.becomes(await rig.send({ to: 'later@one.test' }), 'delivered')
  await rig.stop()
  await rig.start()
  await rig.becomes(await rig.send({ to: 'next@one.test' }), 'delivered')
  const copies = () => rig.mx.messages.filter((message) => message.to.includes(bad)).length
  t.equal(copies(), 1, 'it is not sent again by itself')
  // The operator lets it go on, once what was wrong is mended.
  await heal()
  const site = { store: rig.store, clock: systemClock }
  await changeFitting(site, { held: true }, (tx, ids, now) => release(tx, ids, { now }))
  rig.ring('one.test')
  await rig.becomes(id, 'delivered')
  t.equal(copies(), 2)
})

t.test('a delivery that cannot be claimed is held, and no other waits for it', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const isLeased = 'new.lease is not null'
  await poison(rig.store, 'update of lease on queue', `${isBad} and ${isLeased}`)
  const id = await rig.send({ to: bad })
  const given = ['a@one.test', 'b@one.test', 'c@two.test']
  const others = await Promise.all(given.map((to) => rig.send({ to })))
  await rig.start()
  for (const other of others) await rig.becomes(other, 'delivered')
  await rig.eventually(async () => (await waiting(rig, id))?.held != null)
  t.match(await waiting(rig, id), { held: { reason: /cannot be claimed: it is poisoned/ } })
  const site = { store: rig.store, clock: systemClock }
  const how = { reason: 'broken', land: makeLandEvents([]) }
  await changeFitting(site, { held: true }, (tx, ids, now) => giveUp(tx, ids, { ...how, now }))
  t.match(await rig.email(id), { status: 'failed' })
})

const breakages: Record<string, object> = {
  'its recipients': { to_list: '{' },
  'its sender': { from_header: 'nobody' },
  'its reply address': { reply_to: '@' },
}
for (const [what, change] of Object.entries(breakages)) {
  t.test(`a mail that cannot be composed, for ${what}, is held with the reason`, async (t) => {
    const rig = await outboundRig(t, { stopped: true })
    const id = await rig.send({ to: bad })
    const other = await rig.send({ to: 'a@one.test' })
    const { store } = rig
    const { to_list, from_header, reply_to } = await store.read
      .selectFrom('emails')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const set = (values: object) =>
      store.write((tx) => tx.updateTable('emails').set(values).where('id', '=', id).execute())
    await set(change)
    await rig.start()
    await rig.becomes(other, 'delivered')
    await rig.eventually(async () => (await waiting(rig, id))?.held != null)
    const held = { reason: /^Internal error: it cannot be composed: / }
    t.match(await waiting(rig, id), { held, attempts: 0, lease: null, lastReply: null })
    const reason = 'Internal error; the operator has to look into it'
    t.match((await rig.email(id)).recipients, [{ email: bad, held: { reason }, reply: null }])
    await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
    // The operator mends it, and lets it go on.
    await set({ to_list, from_header, reply_to })
    const site = { store, clock: systemClock }
    await changeFitting(site, { held: true }, (tx, ids, now) => release(tx, ids, { now }))
    rig.ring('one.test')
    await rig.becomes(id, 'delivered')
  })
}

t.test('a row that can be neither claimed nor held stops its own stream alone', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  await poison(rig.store, 'update on queue', isBad)
  await rig.send({ to: bad })
  const other = await rig.send({ to: 'c@two.test' })
  await rig.start()
  await rig.becomes(other, 'delivered')
  await rig.becomes(await rig.send({ to: 'd@three.test' }), 'delivered')
})

t.test('a row that takes no lease is never sent, for it would be sent for ever', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const id = await rig.send({ to: bad })
  // A damaged number, which JavaScript cannot hold: it is read as another one.
  await rig.store.write((tx) =>
    sql`update queue set id = 9223372036854775806 where email_id = ${id}`.execute(tx),
  )
  const other = await rig.send({ to: 'c@two.test' })
  await rig.start()
  await rig.becomes(other, 'delivered')
  await rig.becomes(await rig.send({ to: 'd@three.test' }), 'delivered')
  const reached = rig.mx.messages.flatMap((message) => message.to).sort()
  t.same(reached, ['c@two.test', 'd@three.test'])
})

t.test('mail of a class that is not known is left alone, and no other waits for it', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const id = await rig.send({ to: bad })
  await rig.store.write((tx) => sql`update queue set class = 7 where email_id = ${id}`.execute(tx))
  const others = await Promise.all(['c@one.test', 'd@two.test'].map((to) => rig.send({ to })))
  await rig.start()
  for (const other of others) await rig.becomes(other, 'delivered')
  t.match(await waiting(rig, id), { attempts: 0 })
})

t.test('where a hold cannot be written either, no further attempt is made', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  await poison(rig.store, 'insert on events', isBad)
  await poison(rig.store, 'update of held_at on queue', isBad)
  await rig.send({ to: bad })
  await rig.start()
  await rig.mx.waitForMessages(1)
  await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
  // Its lease ends, and it is claimed again.
  await clock.advance(4_000_000)
  await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
  t.same(rig.mx.messages.map((message) => `${message.to}`).sort(), [
    'a@one.test',
    'b@one.test',
    bad,
  ])
})

t.test('what cannot be ended when its time is over is held, and the others end', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const [id, other] = [await rig.send({ to: bad }), await rig.send({ to: 'a@one.test' })]
  await poison(rig.store, 'insert on events', isBad)
  await clock.advance(30 * 86_400_000)
  const gateOf = async () => undefined
  const deps = { ...rig, clock, log: silentLog, land: makeLandEvents([]), gateOf }
  await expireOverdue(deps, new AbortController().signal)
  t.match(await rig.email(other), { status: 'failed' })
  t.match(await waiting(rig, id), { held: { reason: /cannot be ended: it is poisoned/ } })
  t.equal(rig.backlog.size, 1)
})

t.test('what was learned of a site and cannot be read stops no start', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const row = { site: 'mx.test', source: '127.0.0.1', thread: 0, updated_at: 1 }
  await rig.store.write((tx) =>
    tx
      .insertInto('site_states')
      .values({ ...row, learned: '{' })
      .execute(),
  )
  await rig.start()
  await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
  t.same(await rig.store.read.selectFrom('site_states').selectAll().execute(), [])
})
