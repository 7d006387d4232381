import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import type { Log } from '../../src/log/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import {
  type Breaker,
  isProbing,
  type ProbeOutcome,
  probed,
  trip,
  unbroken,
} from '../../src/outbound/egress/breaker.js'
import {
  everything,
  leaveToEvidence,
  openEgress,
  orderScope,
  readAllScopes,
} from '../../src/outbound/egress/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { answered } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'

const minute = 60_000
const hour = 60 * minute

// What is done at which minute, and what the breaker is then: P primary, F failover, ? probing.
type Step = [atMinutes: number, event: 'unreached' | 'refused' | ProbeOutcome | 'look', is: string]
const refusedForMs = 6 * hour

const stories: Record<string, readonly Step[]> = {
  'three probes in a row that are answered bring mail back': [
    [0, 'unreached', 'F'],
    [4, 'answered', 'F'], // too early to mean anything
    [5, 'look', '?'],
    [5, 'answered', '?'],
    [6, 'accepted', '?'],
    [7, 'answered', 'P'],
  ],
  'a probe that fails doubles the wait, up to an hour': [
    [0, 'unreached', 'F'],
    [5, 'unreached', 'F'],
    [14, 'look', 'F'],
    [15, 'answered', '?'],
    [16, 'answered', '?'],
    [17, 'unreached', 'F'],
    [36, 'look', 'F'],
    [37, 'unreached', 'F'],
    [77, 'unreached', 'F'],
    [136, 'look', 'F'],
    [137, 'unreached', 'F'],
    [196, 'look', 'F'],
    [197, 'look', '?'],
  ],
  'passes before a failed probe do not count': [
    [0, 'unreached', 'F'],
    [5, 'answered', '?'],
    [6, 'answered', '?'],
    [7, 'unreached', 'F'],
    [17, 'answered', '?'],
    [18, 'answered', '?'],
    [19, 'answered', 'P'],
  ],
  'a relapse soon after the return waits longer, one much later does not': [
    [0, 'unreached', 'F'],
    [5, 'answered', '?'],
    [5, 'answered', '?'],
    [5, 'answered', 'P'],
    [34, 'unreached', 'F'],
    [43, 'look', 'F'],
    [44, 'answered', '?'],
    [44, 'answered', '?'],
    [44, 'answered', 'P'],
    [75, 'unreached', 'F'],
    [80, 'look', '?'],
  ],
  'an address that is refused needs accepted mail, and waits as long as it is told to': [
    [0, 'refused', 'F'],
    [359, 'look', 'F'],
    [360, 'answered', '?'],
    [361, 'answered', '?'],
    [362, 'answered', '?'],
    [363, 'accepted', '?'],
    [364, 'answered', '?'],
    [365, 'accepted', '?'],
    [366, 'accepted', 'P'],
  ],
  'being refused again starts anew': [
    [0, 'refused', 'F'],
    [360, 'accepted', '?'],
    [361, 'refused', 'F'],
    [720, 'look', 'F'],
    [721, 'look', '?'],
  ],
}

t.test('a breaker opens, probes and closes by the table', async (t) => {
  for (const [name, steps] of Object.entries(stories)) {
    let breaker: Breaker = unbroken
    const start = 1_000 * hour
    const seen = steps.map(([at, event], i) => {
      const now = start + at * minute
      const primary = breaker.way === 'primary'
      const blocked = event === 'refused'
      if (blocked) {
        breaker = trip(breaker, { cause: 'refused', why: '', until: now + refusedForMs }, now)
      } else if (event === 'unreached' && primary) {
        breaker = trip(breaker, { cause: 'unreached', why: '' }, now)
      } else if (event !== 'look') breaker = probed(breaker, event, now)
      const is = breaker.way === 'primary' ? 'P' : isProbing(breaker, now) ? '?' : 'F'
      return [at, event, is, i]
    })
    t.same(
      seen,
      steps.map((step, i) => [...step, i]),
      name,
    )
  }
})

interface Line {
  level: 'warn' | 'error'
  message: string
}

/** Outbound threads' views of one way out, with a clock of the test's. */
async function open(t: Test, threads = 1) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const said: Line[] = []
  const log: Log = {
    ...silentLog,
    warn: (_, message) => said.push({ level: 'warn', message }),
    error: (_, message) => said.push({ level: 'error', message }),
  }
  let changes = 0
  const openOne = () => openOn(store, clock, log, () => changes++)
  const egresses = await Promise.all(Array.from({ length: threads }, openOne))
  const [egress] = egresses
  const second = egresses[1]
  if (egress === undefined) throw new Error('No thread')
  t.teardown(() => Promise.all(egresses.map((one) => one.close())))
  return {
    clock,
    store,
    said,
    egress,
    second: second ?? egress,
    changes: () => changes,
    restart: async () => {
      await egress.close()
      const again = await openOne()
      t.teardown(() => again.close())
      return again
    },
    order: (scope: string, orders: 'force' | 'forbid') =>
      store.write((tx) => orderScope(tx, scope, orders, clock.now())),
    /** Time passes, and what the threads do meanwhile is on disk. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 2_000) {
        await clock.advance(Math.min(left, 2_000))
        await store.write(async () => {})
        await answered()
      }
    },
    fail: (...sites: string[]) => {
      for (const site of sites) egress.saw({ site, accountId: 'x' }, false)
    },
    refuse: (accountId: string, ...sites: string[]) => {
      const [reply, until] = ['554 spamhaus', clock.now() + hour]
      for (const site of sites) egress.refused({ site, accountId, reply, until })
    },
  }
}

const openOn = (store: Store, clock: FakeClock, log: Log, onChange: () => void) =>
  openEgress({
    store,
    clock,
    log,
    onChange,
    meter: silentMeter,
    shown: true,
    sites: 3,
    windowMs: 10 * minute,
  })

t.test('sites that cannot be reached mean that our way out is blocked', async (t) => {
  const { egress, fail, pass, said, changes } = await open(t)
  fail('one', 'two')
  await pass(20_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary', 'two are too few')
  fail('three')
  await pass(4_000)
  t.equal(egress.wayTo('one', 'one.test'), 'failover')
  t.equal(egress.wayTo('never-seen', 'new.test'), 'failover', 'all mail goes that way')
  t.equal(changes(), 1)
  t.match(said, [{ level: 'error', message: /^Failover: all mail goes by the smart hosts$/ }])
})

t.test('a moment without network is not taken for a blocked way', async (t) => {
  const { egress, fail, pass } = await open(t)
  fail('one', 'two', 'three', 'four')
  await pass(8_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary', 'all within seconds')
  egress.saw({ site: 'one', accountId: 'x' }, true)
  await pass(60_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary', 'one was reached since')
})

t.test('one site that is reached shows that the others are down themselves', async (t) => {
  const { egress, second, fail, pass } = await open(t, 2)
  fail('one', 'two')
  await pass(4_000)
  second.saw({ site: 'far', accountId: 'x' }, true)
  await pass(20_000)
  fail('three')
  await pass(20_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary', 'as another thread has found out')
})

t.test('dead domains of one account move no mail of others', async (t) => {
  const { egress, fail, pass, store, clock } = await open(t)
  for (const name of ['Shop', 'School']) await createAccount({ store, clock }, name)
  fail('one', 'two', 'three', 'four')
  await pass(60_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary')
  egress.saw({ site: 'four', accountId: 'y' }, false)
  await pass(4_000)
  t.equal(egress.wayTo('one', 'one.test'), 'failover', 'another one meets the same')
})

t.test('failures long ago do not count with new ones', async (t) => {
  const { egress, fail, pass } = await open(t)
  fail('one', 'two')
  await pass(11 * minute)
  fail('three')
  await pass(20_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary')
})

t.test('what two threads found counts together, and both know it; a restart too', async (t) => {
  const { egress, second, fail, pass, restart, said } = await open(t, 2)
  fail('one', 'two')
  second.saw({ site: 'three', accountId: 'x' }, false)
  await pass(20_000)
  t.equal(egress.wayTo('one', 'one.test'), 'failover')
  t.equal(second.wayTo('one', 'one.test'), 'failover')
  t.equal(said.length, 1, 'one of them tells')
  t.equal((await restart()).wayTo('one', 'one.test'), 'failover')
})

t.test('a few mails try the primary way, and mail returns when it works', async (t) => {
  const { egress, second, fail, pass, said } = await open(t, 2)
  fail('one', 'two', 'three')
  await pass(20_000)
  t.equal(egress.takeProbe('one', 'one.test'), undefined, 'not yet')
  await pass(5 * minute)
  const probe = egress.takeProbe('one', 'one.test')
  t.ok(probe)
  t.equal(egress.takeProbe('two', 'two.test'), undefined, 'one at a time')
  probe?.ended('answered')
  t.equal(egress.takeProbe('two', 'two.test'), undefined, 'and not one after the other')
  t.equal(egress.wayTo('one', 'one.test'), 'failover')
  await pass(16_000)
  second.takeProbe('two', 'two.test')?.ended('answered')
  egress.takeProbe('one', 'one.test')?.ended('answered')
  await pass(4_000)
  t.equal(egress.wayTo('one', 'one.test'), 'primary')
  t.equal(second.wayTo('one', 'one.test'), 'primary')
  t.equal(egress.takeProbe('one', 'one.test'), undefined)
  t.match(said[1], { level: 'warn', message: /all mail goes the primary way again/ })
})

t.test('a site that refuses our address goes the other way alone', async (t) => {
  const { clock, egress, pass, said, store } = await open(t)
  const reply = '550 5.7.1 low reputation'
  egress.refused({ site: 'google', accountId: 'x', reply, until: clock.now() + hour })
  await pass(2_000)
  t.equal(egress.wayTo('google', 'gmail.com'), 'failover')
  t.equal(egress.wayTo('yahoo', 'yahoo.com'), 'primary')
  t.match(said, [{ level: 'error', message: 'Failover: mail to google goes by the smart hosts' }])
  await pass(59 * minute)
  t.equal(egress.takeProbe('google', 'gmail.com'), undefined)
  await pass(minute)
  for (let i = 0; i < 3; i++) {
    egress.takeProbe('google', 'gmail.com')?.ended('accepted')
    await pass(16_000)
  }
  t.equal(egress.wayTo('google', 'gmail.com'), 'primary')
  t.match(await readAllScopes(store.read), [
    { scope: 'google', way: 'primary', why: /low reputation/ },
  ])
})

t.test('what a clock that was ahead has begun ends when it is set back', async (t) => {
  const ahead = 60 * 24 * hour
  const { clock, egress, fail, pass } = await open(t)
  clock.jump(ahead)
  fail('one', 'two', 'three')
  await pass(20_000)
  t.equal(egress.wayTo('one', 'one.test'), 'failover')
  clock.setBack(ahead)
  await pass(4_000)
  for (let i = 0; i < 3; i++) {
    egress.takeProbe('one', 'one.test')?.ended('answered')
    await pass(16_000)
  }
  t.equal(egress.wayTo('one', 'one.test'), 'primary', 'probes begin at once')
  clock.jump(ahead)
  egress.saw({ site: 'far', accountId: 'x' }, true)
  clock.setBack(ahead)
  fail('four', 'five', 'six')
  await pass(20_000)
  t.equal(egress.wayTo('four', 'four.test'), 'failover', 'what was reached then tells nothing now')
})

t.test('an address that many sites refuse is refused everywhere', async (t) => {
  const { egress, pass, refuse } = await open(t)
  refuse('x', 'one', 'two', 'three')
  await pass(2_000)
  t.equal(egress.wayTo('four', 'four.test'), 'failover')
})

t.test('the words of one account’s servers move no mail of others', async (t) => {
  const { egress, pass, refuse, store, clock, restart } = await open(t)
  for (const name of ['Shop', 'School']) await createAccount({ store, clock }, name)
  refuse('x', 'one', 'two', 'three', 'four')
  await pass(4_000)
  t.equal(egress.wayTo('one', 'one.test'), 'failover', 'each for itself')
  t.equal(egress.wayTo('far', 'far.test'), 'primary')
  const again = await restart()
  refuse('y', 'five')
  await pass(4_000)
  t.equal(again.wayTo('far', 'far.test'), 'failover', 'another one hears the same')
})

t.test('the operator decides: force all, one site or domain, forbid, leave it', async (t) => {
  const { egress, order, pass, store, fail, said } = await open(t)
  const ways = () =>
    [egress.wayTo('google', 'gmail.com'), egress.wayTo('mx.b.test', 'b.test')].join(' ')
  await order('google', 'force')
  await pass(2_000)
  t.equal(ways(), 'failover primary')
  t.match(said, [
    { level: 'warn', message: "Failover: the operator's word on mail to google: force" },
  ])
  await order('b.test', 'force')
  await pass(2_000)
  t.equal(ways(), 'failover failover')
  t.equal(egress.takeProbe('google', 'gmail.com'), undefined, 'what is forced is not probed')
  await order(everything, 'forbid')
  await pass(2_000)
  t.equal(ways(), 'primary primary')
  fail('one', 'two', 'three')
  await pass(20_000)
  t.equal(ways(), 'primary primary', 'whatever the evidence')
  await store.write((tx) => leaveToEvidence(tx))
  await order(everything, 'force')
  await pass(2_000)
  t.equal(ways(), 'failover failover')
  await store.write((tx) => leaveToEvidence(tx, everything))
  await pass(2_000)
  t.equal(ways(), 'primary primary')
})
