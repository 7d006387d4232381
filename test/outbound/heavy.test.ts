import t from 'tap'
import { lightBytes, makeHeavyRoom } from '../../src/outbound/heavy.js'

const mb = 1024 * 1024

t.test('large messages wait for room, small ones never', async (t) => {
  const room = makeHeavyRoom(10 * mb)
  t.ok(room.enter(6 * mb))
  t.notOk(room.enter(6 * mb))
  t.ok(room.enter(4 * mb))
  for (let i = 0; i < 1_000; i++) t.ok(room.enter(lightBytes))
  const woken: number[] = []
  for (const who of [1, 2]) void room.untilFree().then(() => woken.push(who))
  room.leave(lightBytes)
  await Promise.resolve()
  t.same(woken, [])
  room.leave(6 * mb)
  await Promise.resolve()
  t.same(woken, [1], 'one after the other')
  t.ok(room.enter(5 * mb))
  await Promise.resolve()
  t.same(woken, [1, 2], 'there may be room for more')
})

t.test('one that is larger than all of it has to leave too', async (t) => {
  const room = makeHeavyRoom(10 * mb)
  t.ok(room.enter(40 * mb))
  t.notOk(room.enter(mb))
  room.leave(40 * mb)
  t.ok(room.enter(mb))
})
