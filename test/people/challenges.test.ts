// Issue 15: what a browser is asked to sign is good once, for whom it was made, for five minutes.
import t from 'tap'
import { makeChallenges } from '../../src/people/challenges.js'
import { FakeClock } from '../support/clock.js'

t.test('a challenge is good once, for five minutes, and for nobody else', async (t) => {
  const clock = new FakeClock()
  const challenges = makeChallenges(clock)
  const make = (of: string | null) => challenges.make(of).toString('base64url')
  const one = make('ada')
  t.notOk(challenges.take(one, null))
  t.notOk(challenges.take(one, 'eve'))
  t.ok(challenges.take(one, 'ada'))
  t.notOk(challenges.take(one, 'ada'))
  t.notOk(challenges.take(`${one}=`, 'ada'), 'nor written in another way')
  const late = make(null)
  await clock.advance(300_000)
  t.notOk(challenges.take(late, null))
  t.notOk(challenges.take(makeChallenges(clock).make(null).toString('base64url'), null))
  for (const forged of ['', 'AAAA', 'A'.repeat(51), 'é'.repeat(51)]) {
    t.notOk(challenges.take(forged, null), forged)
  }
})

t.test('who asks for many pushes out nobody else’s', async (t) => {
  const challenges = makeChallenges(new FakeClock())
  const mine = challenges.make(null).toString('base64url')
  for (let i = 0; i < 20_000; i++) challenges.make(null)
  t.ok(challenges.take(mine, null))
})
