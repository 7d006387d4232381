// Thorough: receivers that answer slowly.
import t from 'tap'
import { leased } from '../support/outbound.js'
import {
  besiege,
  good,
  inDoubt,
  sendTo,
  settled,
  settlesAt,
  taken,
  takesTwo,
} from '../support/siege.js'

t.test('servers that take mails and then never answer a dot leave room for all', async (t) => {
  const siege = await besiege(t, { names: 24, script: takesTwo() })
  const { rig, names, clock } = siege
  const [owner, other] = [await rig.addAccount(), await rig.addAccount()]
  await sendTo(siege, names, [owner], 2)
  await rig.eventually(() => taken(siege) === 2 * names.length)
  await sendTo(siege, names, [owner], 5)
  t.equal(await settlesAt(rig, 20), 20, 'one server has half of the connections')
  await sendTo(siege, good, [other])
  await rig.mx.waitForMessages(good.length)
  await sendTo(siege, good, [owner])
  await rig.mx.waitForMessages(2 * good.length)

  await clock.advance(29_000)
  t.equal(inDoubt(siege), 20, 'they have half a minute at least')
  await clock.advance(3_000)
  await rig.eventually(() => inDoubt(siege) > 20)
  t.ok((await settlesAt(rig, 15)) <= 15, 'and as they are slow, less than before')
  const reply = await rig.store.read
    .selectFrom('queue')
    .select(['last_reply', 'due_at', 'attempts'])
    .where('attempts', '=', 1)
    .executeTakeFirstOrThrow()
  t.match(reply.last_reply, /lost at dot: given up after 3\d s, as .* may have taken the message$/)
  t.ok(reply.due_at >= clock.now() + 3_590_000, 'what is in doubt comes an hour later')
})

t.test('however many accounts they are of, one server has its share', async (t) => {
  const siege = await besiege(t, { names: 24, script: takesTwo() })
  const { rig, names } = siege
  const owners: string[] = []
  for (let i = 0; i < 4; i++) owners.push(await rig.addAccount())
  await sendTo(siege, names, owners, 2)
  await rig.eventually(() => taken(siege) === 2 * names.length)
  await sendTo(siege, names, owners, 5)
  t.equal(await settlesAt(rig, 20), 20)
  await sendTo(siege, good, [await rig.addAccount()])
  await rig.mx.waitForMessages(good.length)
})

t.test('at many addresses one account leaves room for others, then for itself', async (t) => {
  const siege = await besiege(t, { names: 24, addresses: 6, script: takesTwo() })
  const { rig, names, clock } = siege
  const [owner, other] = [await rig.addAccount(), await rig.addAccount()]
  await sendTo(siege, names, [owner], 2)
  await rig.eventually(() => taken(siege) === 2 * names.length)
  await sendTo(siege, names, [owner], 5)
  t.equal(await settlesAt(rig, 30), 30)
  await sendTo(siege, good, [other])
  await rig.mx.waitForMessages(good.length)
  await sendTo(siege, good.slice(0, 10), [owner])
  // Its own new sites take their turns among the slow ones, each of which has a minute.
  for (let passed = 0; passed < 240 && rig.mx.messages.length < good.length + 10; passed++) {
    await clock.advance(1_000)
    await settled(rig)
  }
  t.equal(rig.mx.messages.length, good.length + 10)
})

t.test('where there is room, a slow server has the minutes that RFC 5321 grants', async (t) => {
  const siege = await besiege(t, { names: 6, script: { dot: 'hang' } })
  const { rig, clock, names } = siege
  await sendTo(siege, names, [rig.accountId])
  await rig.eventually(() => inDoubt(siege) === names.length)
  await clock.advance(590_000)
  t.equal(siege.held(), names.length)
  t.equal(await leased(rig), names.length)
})

t.test('an account whose share is used up is not in the way of another one', async (t) => {
  const siege = await besiege(t, { names: 30, addresses: 3, script: { banner: 'hang' }, total: 20 })
  const { rig, names } = siege
  const [first, second] = [await rig.addAccount(), await rig.addAccount()]
  await sendTo(siege, names, [first])
  await settlesAt(rig, 12)
  // The first one has mail at each of the new sites before the other.
  await sendTo(siege, good, [first])
  await rig.eventually(() => {
    const gate = rig.gateOf({ lane: 'good0.test', class: 0, accountId: first })
    return gate?.gate === 'connections'
  })
  await sendTo(siege, good, [second])
  const ofSecond = () =>
    rig.mx.messages.filter(({ raw }) => /^From: .*@sender3\.test/m.test(raw.toString()))
  await rig.mx.waitUntil(() => ofSecond().length === good.length)
})

t.test('a thousand domains that wait for room keep nobody from looking up its own', async (t) => {
  const siege = await besiege(t, { names: 1_200, script: { banner: 'hang' }, total: 20 })
  const { rig, names } = siege
  await sendTo(siege, names, [await rig.addAccount()])
  await settlesAt(rig, 8)
  await sendTo(siege, good, [await rig.addAccount()])
  await rig.mx.waitForMessages(good.length)
})
