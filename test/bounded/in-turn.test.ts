import t from 'tap'
import { makeInTurn } from '../../src/bounded/index.js'

t.test('one at a time is done, owners take turns, and few of one wait', async (t) => {
  const inTurn = makeInTurn(3, () => new Error('full'))
  const order: string[] = []
  const ends: (() => void)[] = []
  const ask = (owner: string, name: string) =>
    inTurn(owner, async () => {
      order.push(name)
      await new Promise<void>((end) => ends.push(end))
    })
  const all = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('a', 'a4'), ask('b', 'b1')]
  await t.rejects(ask('a', 'a5'), { message: 'full' })
  t.same(order, ['a1'], 'one at a time')
  for (let done = 0; done < all.length; done++) {
    ends.shift()?.()
    await new Promise((turn) => setImmediate(turn))
  }
  await Promise.all(all)
  t.same(order, ['a1', 'a2', 'b1', 'a3', 'a4'])
  const failing = inTurn('a', async () => {
    throw new Error('broken')
  })
  await t.rejects(failing, { message: 'broken' })
  t.equal(await inTurn('b', async () => 'done'), 'done', 'what fails keeps nobody waiting')
})
