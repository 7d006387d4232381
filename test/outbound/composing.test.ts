import t from 'tap'
import { makeComposingRoom } from '../../src/outbound/admission/composing.js'
import { type QueueClass, queueClass } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'

const { transactional, campaign } = queueClass

t.test('attempts begin when their turn is near, transactional ones first', async (t) => {
  const room = makeComposingRoom(new FakeClock())
  const begun: string[] = []
  const composing: (() => void)[] = []
  const attempt = (name: string, of: QueueClass) => {
    room.whenNear(of, () => {
      begun.push(name)
      const mail = { class: of, accountId: 'a', giveUp: undefined }
      void room.compose(mail, async () => {
        await new Promise<void>((resolve) => composing.push(resolve))
        return { heldBytes: 1 }
      })
    })
  }
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  for (let i = 0; i < 200; i++) attempt(`c${i}`, campaign)
  await settled()
  const first = begun.length
  t.ok(first >= composing.length + 8, 'the next ones wait at the door')
  t.ok(first < 60, `of 200, ${first} have begun`)
  attempt('t', transactional)
  await settled()
  t.equal(begun.length, first, 'as long as none is composed no other begins')
  for (let i = 0; i < 20; i++) composing.shift()?.()
  await settled()
  t.equal(begun[first], 't')
  for (let left = 200; left > 0 && begun.length < 201; left--) {
    for (const end of composing.splice(0)) end()
    await settled()
  }
  t.equal(begun.length, 201, 'all come to their turn')
})

t.test('who never comes to be composed keeps nobody else back', async (t) => {
  const room = makeComposingRoom(new FakeClock())
  let begun = 0
  for (let i = 0; i < 500; i++) room.whenNear(campaign, () => begun++)
  for (let turn = 0; turn < 80; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(begun, 500)
})

t.test('a class is crowded by those who go before it, until they have begun', async (t) => {
  let turns = 0
  const room = makeComposingRoom(new FakeClock(), () => turns++)
  const { isCrowded } = room
  for (let i = 0; i < 300; i++) room.whenNear(campaign, () => {})
  t.same([isCrowded(campaign), isCrowded(transactional)], [true, false])
  for (let i = 0; i < 300; i++) room.whenNear(transactional, () => {})
  t.ok(isCrowded(transactional))
  for (let turn = 0; turn < 200 && isCrowded(campaign); turn++) {
    const before = turns
    await new Promise((resolve) => setImmediate(resolve))
    t.ok(turns > before, 'whoever waits for room is told in each turn')
  }
  t.same([isCrowded(campaign), isCrowded(transactional)], [false, false])
})
