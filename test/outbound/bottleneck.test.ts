import t from 'tap'
import { makeBottleneck } from '../../src/outbound/admission/bottleneck.js'
import { type QueueClass, queueClass } from '../../src/store/index.js'

const { transactional, automation, campaign } = queueClass

t.test('so many at once, with room and the first turn for transactional mail', async (t) => {
  const { pass } = makeBottleneck(5)
  const inside = new Map<string, () => void>()
  const enter = (name: string, of: QueueClass) =>
    pass(of, async () => {
      await new Promise<void>((resolve) => inside.set(name, resolve))
      inside.delete(name)
      return name
    })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const leave = async (name: string) => {
    inside.get(name)?.()
    await settled()
  }
  const all = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((name) => enter(name, campaign))
  await settled()
  t.same([...inside.keys()], ['c1', 'c2', 'c3', 'c4'], 'a fifth is kept')
  all.push(enter('a1', automation))
  all.push(...['t1', 't2', 't3'].map((name) => enter(name, transactional)))
  await settled()
  t.same([...inside.keys()], ['c1', 'c2', 'c3', 'c4', 't1'])
  await leave('c1')
  t.same([...inside.keys()], ['c2', 'c3', 'c4', 't1', 't2'])
  await leave('t1')
  t.same([...inside.keys()], ['c2', 'c3', 'c4', 't2', 't3'])
  await leave('t2')
  t.same([...inside.keys()], ['c2', 'c3', 'c4', 't3'], 'the kept room stays free')
  await leave('t3')
  t.same([...inside.keys()], ['c2', 'c3', 'c4', 'a1'], 'automations before campaigns')
  await leave('a1')
  await leave('c2')
  t.same([...inside.keys()], ['c3', 'c4', 'c5', 'c6'])
  for (const name of [...inside.keys()]) await leave(name)
  t.equal((await Promise.all(all)).length, 10)
})

t.test('one that fails lets the next one in', async (t) => {
  const { pass } = makeBottleneck(1)
  const failing = pass(campaign, async () => {
    throw new Error('does not render')
  })
  const after = pass(campaign, async () => 'well')
  await t.rejects(failing, /does not render/)
  t.equal(await after, 'well')
  t.equal(await pass(campaign, async () => 'again'), 'again')
})
