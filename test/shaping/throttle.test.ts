import t from 'tap'
import { fail, makeConcurrency, succeed } from '../../src/outbound/shaping/concurrency.js'
import { makeThrottle } from '../../src/outbound/shaping/index.js'
import { rateOf, reserveOf } from '../../src/outbound/shaping/throttle.js'
import { queueClass } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { seeded } from './seeded.js'

const { transactional, campaign } = queueClass

t.test('a fifth is kept, one at least, and of one nothing', async (t) => {
  for (const [limit, kept] of [
    [1, 0],
    [2, 1],
    [5, 1],
    [9, 1],
    [10, 2],
    [100, 20],
  ] as const) {
    t.equal(reserveOf(limit), kept, `of ${limit}`)
  }
})

t.test('over any span no more goes than the burst and the rate', async (t) => {
  for (const perMinute of [1, 10, 60, 600, 6_000, 0.5, 7.5]) {
    const random = seeded(perMinute)
    const clock = new FakeClock()
    const rate = rateOf(perMinute)
    const throttle = makeThrottle({ ...rate, clock })
    const taken: number[] = []
    let now = clock.now()
    for (let step = 0; step < 4_000; step++) {
      now += Math.floor((random() * random() * 120_000) / perMinute)
      const klass = random() < 0.3 ? transactional : campaign
      if (throttle.take(klass, now) === 0) taken.push(now)
    }
    let worst = 0
    for (const [first, from] of taken.entries()) {
      // Windows from each mail to the ones after it.
      for (let last = first; last < Math.min(taken.length, first + 300); last++) {
        const span = (taken[last] ?? 0) - from
        worst = Math.max(worst, last - first + 1 - (rate.burst + (span * perMinute) / 60_000))
      }
    }
    t.ok(worst < 1e-6, `${perMinute} a minute: ${worst} too many`)
    t.ok(taken.length > 100, `${taken.length} went`)
  }
})

t.test('the wait it tells is exact, and the rate is reached', async (t) => {
  const clock = new FakeClock()
  const throttle = makeThrottle({ perMinute: 10, burst: 1, clock })
  let now = clock.now()
  t.equal(throttle.take(campaign, now), 0)
  for (let i = 0; i < 100; i++) {
    const wait = throttle.take(campaign, now)
    t.equal(wait, 6_000)
    t.ok(throttle.take(campaign, now + wait - 1) > 0)
    now += wait
    t.equal(throttle.take(campaign, now), 0)
  }
})

t.test('bulk that takes all it can get leaves the reserve to transactional mail', async (t) => {
  const clock = new FakeClock()
  const rate = rateOf(600)
  const throttle = makeThrottle({ ...rate, clock })
  const random = seeded(7)
  let now = clock.now()
  for (let step = 0; step < 3_000; step++) {
    now += Math.floor(random() * 150)
    while (throttle.take(campaign, now) === 0);
    if (step % 50 !== 0) continue
    for (let i = 0; i < reserveOf(rate.burst); i++) {
      t.equal(throttle.take(transactional, now), 0, `step ${step}`)
    }
  }
})

t.test('a site earns a connection by as many successes as it has connections', async (t) => {
  const state = makeConcurrency(2)
  const successes: number[] = []
  for (let i = 1, since = 0; i < 60; i++) {
    const before = state.connections
    succeed(state, 8, true)
    since++
    if (state.connections > before) {
      successes.push(since)
      since = 0
    }
  }
  t.same(successes, [2, 3, 4, 5, 6, 7])
  t.equal(state.connections, 8, 'and no more than it may have')
  const idle = makeConcurrency(2)
  for (let i = 0; i < 60; i++) succeed(idle, 8, false)
  t.equal(idle.connections, 2, 'none that was not needed')
})

t.test('a failure costs a connection at once, a cohort of them the site', async (t) => {
  const state = makeConcurrency(10)
  t.equal(fail(state), false)
  t.equal(state.connections, 9, 'reversed hysteresis: down first, then earned')
  succeed(state, 10, false)
  t.equal(fail(state), false)
  t.equal(state.connections, 9)
  for (const [start, failures] of [
    [1, 1],
    [2, 2],
    [5, 5],
    [10, 10],
  ] as const) {
    const site = makeConcurrency(start)
    let count = 1
    while (!fail(site)) count++
    t.ok(count <= failures && count > failures / 2, `${count} of ${start} in a row suspend it`)
    const mixed = makeConcurrency(start)
    if (start === 1) continue
    for (let i = 0; i < 100; i++) {
      t.notOk(fail(makeConcurrency(start)) || (i % 2 === 1 && mixed.failedCohorts >= 1))
      succeed(mixed, start, true)
    }
  }
})
