// Issue 15: what a browser is asked to sign is good once, for whom it was made, for five minutes.
import t from 'tap'
import { makeApplianceKey } from '../../src/config/index.js'
import { makeChallenges } from '../../src/people/challenges.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const key = makeApplianceKey(Buffer.alloc(32, 7))

t.test('a challenge is good once, for five minutes, and for nobody else', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const challenges = makeChallenges({ store, clock, key })
  const make = (of: string | null) => challenges.make(of).toString('base64url')
  const one = make('ada')
  t.notOk(await challenges.take(one, null))
  t.notOk(await challenges.take(one, 'eve'))
  t.ok(await challenges.take(one, 'ada'))
  t.notOk(await challenges.take(one, 'ada'))
  t.notOk(await challenges.take(`${one}=`, 'ada'), 'nor written in another way')
  const late = make(null)
  await clock.advance(300_000)
  t.notOk(await challenges.take(late, null))
  const foreign = makeChallenges({ store, clock, key: makeApplianceKey(Buffer.alloc(32, 8)) })
  t.notOk(await challenges.take(foreign.make(null).toString('base64url'), null))
  for (const forged of ['', 'AAAA', 'A'.repeat(51), 'é'.repeat(51)]) {
    t.notOk(await challenges.take(forged, null), forged)
  }
})

t.test('who asks for many pushes out nobody else’s', async (t) => {
  const clock = new FakeClock()
  const challenges = makeChallenges({ store: await openTestStore(t, { clock }), clock, key })
  const mine = challenges.make(null).toString('base64url')
  for (let i = 0; i < 20_000; i++) challenges.make(null)
  t.ok(await challenges.take(mine, null))
})

t.test('one is answered at another node, once, and after a restart not again', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const nodes = [1, 2, 3].map(() => makeChallenges({ store, clock, key }))
  const one = nodes[0]?.make('ada').toString('base64url') ?? ''
  const taken = await Promise.all(nodes.map((node) => node.take(one, 'ada')))
  t.same(
    taken.filter((isTaken) => isTaken),
    [true],
  )
  t.notOk(await makeChallenges({ store, clock, key }).take(one, 'ada'))
  await clock.advance(400_000)
  const next = nodes[1]?.make(null).toString('base64url') ?? ''
  t.ok(await nodes[2]?.take(next, null))
  t.equal((await store.read.selectFrom('used_challenges').select('challenge').execute()).length, 1)
})
