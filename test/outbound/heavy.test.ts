import t from 'tap'
import { makeComposingRoom } from '../../src/outbound/admission/composing.js'
import { type HeavyRoom, lightBytes, makeHeavyRoom } from '../../src/outbound/admission/heavy.js'
import { FakeClock } from '../support/clock.js'

const mb = 1024 * 1024

function rigOf(mostBytes = 10 * mb) {
  const clock = new FakeClock()
  const room: HeavyRoom = makeHeavyRoom(mostBytes, clock)
  const told: string[] = []
  const enter = (bytes: number, accountId = 'x') =>
    room.enter({ bytes, accountId, giveUp: (why) => told.push(`${accountId}: ${why}`) })
  return { clock, room, told, enter }
}

t.test('large messages wait for room, small ones never', async (t) => {
  const { room, enter } = rigOf()
  const leave = enter(6 * mb)
  t.notOk(enter(6 * mb, 'y'))
  t.ok(enter(4 * mb, 'y'))
  let leaveLight = () => {}
  for (let i = 0; i < 1_000; i++) {
    const light = enter(lightBytes)
    if (light === undefined) t.fail('small ones pass')
    else leaveLight = light
  }
  const woken: string[] = []
  const wait = (who: string, bytes: number) =>
    void room.untilFree(who, bytes).then(() => woken.push(who))
  wait('a', 5 * mb)
  wait('b', mb)
  leaveLight()
  await Promise.resolve()
  t.same(woken, [])
  leave?.()
  leave?.()
  await Promise.resolve()
  t.same(woken, ['a'], 'one after the other')
  t.ok(enter(5 * mb, 'a'))
  await Promise.resolve()
  t.same(woken, ['a', 'b'], 'there may be room for more')
})

t.test('one that is larger than all of it has to leave too', async (t) => {
  const { enter } = rigOf()
  const leave = enter(40 * mb)
  t.notOk(enter(mb, 'y'))
  leave?.()
  t.ok(enter(mb, 'y'))
})

t.test('one account has half of it, and waits behind nobody that has none', async (t) => {
  const { room, enter } = rigOf()
  const leave = enter(3 * mb)
  t.ok(enter(2 * mb))
  t.notOk(enter(mb), 'its half is used')
  const woken: string[] = []
  for (const who of ['x', 'y']) void room.untilFree(who, mb).then(() => woken.push(who))
  const leaveOther = enter(mb, 'z')
  await Promise.resolve()
  t.same(woken, ['y'])
  leave?.()
  leaveOther?.()
  await Promise.resolve()
  t.same(woken, ['y', 'x'])
})

t.test(
  'while others wait, who has held it for a minute gives up, of whoever has most',
  async (t) => {
    const { room, enter, clock, told } = rigOf()
    const small = enter(2 * mb, 'small')
    const leaves = [enter(2 * mb), enter(2 * mb), enter(4 * mb, 'y')]
    t.notOk(leaves.includes(undefined))
    await clock.advance(600_000)
    t.same(told, [], 'nobody waits')
    const woken = room.untilFree('z', mb)
    await clock.advance(2_000)
    t.match(told, [/^x: given up after 601 s, as other large mail waits for room$/, /./])
    small?.()
    await woken
    const before = told.length
    await clock.advance(60_000)
    t.equal(told.length, before)
  },
)

t.test('one that was called and cannot be composed any more calls the next', async (t) => {
  const room = makeComposingRoom(new FakeClock())
  const of = { class: 0, giveUp: () => {} } as const
  const compose = (accountId: string, work: () => Promise<{ heldBytes: number }>) =>
    room.compose({ ...of, accountId }, work)
  const large = async () => ({ heldBytes: 100 * mb })
  const [first, second] = await Promise.all([compose('a', large), compose('b', large)])
  let tries = 0
  const fails = compose('c', async () => {
    if (tries++ > 0) throw new Error('cancelled meanwhile')
    return { heldBytes: 100 * mb }
  })
  const waits = compose('d', large)
  await new Promise(setImmediate)
  first.done()
  await t.rejects(fails, { message: 'cancelled meanwhile' })
  ;(await waits).done()
  second.done()
})
