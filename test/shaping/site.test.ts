import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLog } from '../../src/log/index.js'
import type { OutboundDeps } from '../../src/outbound/deps.js'
import { openShaping as openThreadShaping } from '../../src/outbound/open-shaping.js'
import { lastOf } from '../../src/outbound/shaping/data.js'
import {
  automationsFor,
  type Learned,
  loadShaping,
  makeShaping,
  makeSite,
  policyFor,
  type ShapingOptions,
  type SiteAction,
  type SiteOutcome,
  siteOf,
} from '../../src/outbound/shaping/index.js'
import { reserveOf } from '../../src/outbound/shaping/throttle.js'
import { type QueueClass, queueClass, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { askForFewer, askForNothing, replies } from './replies.js'
import { seeded } from './seeded.js'

const { transactional, automation, campaign } = queueClass
const data = loadShaping(['config/shaping.toml'])
const delivered: SiteOutcome = { kind: 'delivered' }
const refused: SiteOutcome = { kind: 'connect-failed', cause: 'refused' }
const timedOut: SiteOutcome = { kind: 'connect-failed', cause: 'timeout' }
const deferred = (reply: string): SiteOutcome => ({ kind: 'deferred', reply })
const minute = 60_000
const hour = 3_600_000

const nameOf = (exchange: string, domain = 'x.example') =>
  siteOf(data, [{ exchange, preference: 10 }], domain)

/** A site of that MX, its clock and what its automations did. */
function open(exchange = 'mx.small.example', learned?: Learned) {
  const clock = new FakeClock()
  const actions: SiteAction[] = []
  const site = makeSite(policyFor(data, nameOf(exchange)), {
    clock,
    random: () => 0,
    onAction: (action) => actions.push(action),
    learned,
  })
  /** Starts one and ends it at once. */
  const send = (outcome: SiteOutcome, klass: QueueClass = transactional) => {
    const held = site.mayStart(klass)
    if (held !== undefined) return held
    site.started(klass)
    site.ended(klass, outcome)
    return undefined
  }
  /** How many of a class may start together now; none is started for good. */
  const room = (klass: QueueClass) => {
    let count = 0
    while (count < 100 && site.mayStart(klass) === undefined) {
      site.started(klass)
      count++
    }
    for (let i = 0; i < count; i++) site.ended(klass, { kind: 'deferred' })
    return count
  }
  return { site, clock, actions, send, room }
}

t.test('of the connections of a site bulk never gets the last fifth', async (t) => {
  for (const [exchange, all, bulk] of [
    ['mta7.am0.yahoodns.net', 10, 8],
    ['aspmx.l.google.com', 5, 4],
    ['smtp-in.orange.fr', 2, 1],
    ['mx.small.example', 2, 1],
  ] as const) {
    t.equal(open(exchange).room(transactional), all, exchange)
    t.equal(open(exchange).room(campaign), bulk)
    t.equal(open(exchange).room(automation), bulk)
    const { site, room } = open(exchange)
    while (site.mayStart(campaign) === undefined) site.started(campaign)
    t.match(site.mayStart(campaign), { gate: 'connections', until: null, why: /transactional/ })
    t.equal(room(transactional), all - bulk)
  }
})

t.test('a small site earns connections and loses them, within its policy', async (t) => {
  const { site, clock, room } = open()
  t.equal(room(transactional), 2)
  for (let i = 0; i < 200; i++) {
    await clock.advance(100)
    // Bulk that uses all that it may have.
    let begun = 0
    while (site.mayStart(campaign) === undefined) {
      site.started(campaign)
      begun++
    }
    for (let j = 0; j < begun; j++) site.ended(campaign, delivered)
  }
  await clock.advance(minute)
  t.equal(room(transactional), 10)
  site.started(transactional)
  site.ended(transactional, refused)
  t.equal(room(transactional), 9)
})

t.test('a cohort of failed connections suspends the site until a probe gets through', async (t) => {
  for (const [failure, waitMs, why] of [
    [refused, 2 * minute, 'Its servers take no connection'],
    [timedOut, 15 * minute, 'Its servers do not answer'],
  ] as const) {
    const { site, clock, send } = open()
    t.equal(send(failure), undefined)
    t.equal(send(failure), undefined)
    const until = clock.now() + waitMs
    t.same(send(delivered), { gate: 'suspended', until, why })
    await clock.advance(waitMs)
    t.equal(site.mayStart(campaign), undefined, 'any class may be the probe')
    site.started(campaign)
    t.match(site.mayStart(transactional), { gate: 'suspended', until: null, why: /one message/ })
    site.ended(campaign, failure)
    t.match(site.mayStart(transactional), { gate: 'suspended', until: clock.now() + waitMs })
    await clock.advance(waitMs)
    t.equal(send(deferred('450 4.2.0 Greylisted')), undefined)
    t.equal(site.learned().suspension, null, 'any answer shows that it is there')
    t.equal(send(delivered), undefined)
  }
})

t.test('a message under way that gets through ends a suspension for connections', async (t) => {
  const { site, send } = open('mta7.am0.yahoodns.net')
  for (let i = 0; i < 12; i++) site.started(transactional)
  for (let i = 0; i < 10; i++) site.ended(transactional, refused)
  t.match(send(delivered), { gate: 'suspended' })
  site.ended(transactional, deferred('451 4.3.0 Later'))
  t.match(send(delivered), { gate: 'suspended' }, 'any other answer ends none')
  site.ended(transactional, delivered)
  t.equal(send(delivered), undefined)
  t.match(site.learned(), { suspension: null, connections: 2 })
})

t.test('a suspension tells what the servers said instead of a session', async (t) => {
  const { send } = open()
  const why = `Its servers begin no session: 554 5.7.1 blocked ${'using a list '.repeat(30)}`
  for (let i = 0; i < 2; i++) send({ kind: 'connect-failed', cause: 'refused', why })
  const told = send(delivered)?.why ?? ''
  t.match(told, /session: 554 5\.7\.1 blocked using/)
  t.equal(told.length, 200)
})

t.test('without an answer of the DNS a site is asked again soon, then less often', async (t) => {
  const { clock, send, site } = open()
  const why = 'DNS failed: no name server reachable'
  const failure: SiteOutcome = { kind: 'connect-failed', cause: 'dns', why }
  send(failure)
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    t.equal(send(failure), undefined)
    t.same(site.mayStart(transactional), {
      gate: 'suspended',
      why,
      until: clock.now() + minutes * minute,
    })
    await clock.advance(minutes * minute)
  }
  t.equal(send(delivered), undefined)
  send(failure)
  send(failure)
  t.match(site.mayStart(transactional), { until: clock.now() + minute }, 'as at first')
})

t.test('what began before a suspension does not prolong it', async (t) => {
  const { site, clock, send } = open('aspmx.l.google.com')
  for (let i = 0; i < 5; i++) site.started(transactional)
  for (let i = 0; i < 4; i++) site.ended(transactional, refused)
  t.equal(site.learned().suspension, null)
  site.ended(transactional, refused)
  const until = site.learned().suspension?.until
  t.equal(until, clock.now() + 2 * minute)
  await clock.advance(2 * minute)
  t.equal(send(delivered), undefined)
  t.match(site.learned(), { suspension: null, connections: 2 }, 'it begins small again')
})

t.test('a suspension by words ends with a delivery alone', async (t) => {
  const { site, clock, send, actions } = open('mta7.am0.yahoodns.net')
  const reply = replies.yahoo?.TSS04 ?? ''
  for (let i = 0; i < 3; i++) site.started(transactional)
  for (let i = 0; i < 3; i++) site.ended(transactional, deferred(reply))
  t.match(actions, [{ action: 'suspend', name: 'TSS04', until: clock.now() + 2 * hour, reply }])
  t.equal(actions.length, 1, 'told once')
  t.match(site.mayStart(transactional), { gate: 'suspended', why: /^The receiver answered: 421/ })
  await clock.advance(2 * hour)
  t.equal(send(deferred('451 4.3.0 Something else')), undefined)
  site.started(transactional)
  t.match(site.mayStart(transactional), { gate: 'suspended', until: null }, 'still one at a time')
  site.ended(transactional, deferred(reply))
  t.match(site.mayStart(transactional), { gate: 'suspended', until: clock.now() + 2 * hour })
  await clock.advance(2 * hour)
  t.equal(send({ kind: 'bounced', reply: '550 5.1.1 No such user' }), undefined)
  t.equal(site.learned().suspension, null)
})

t.test(
  'whoever asks for fewer connections, in whatever words, has fewer, and no rate',
  async (t) => {
    const actionsOn = (exchange: string, reply: string) =>
      automationsFor(policyFor(data, nameOf(exchange)), reply).map(({ action }) => action)
    for (const [exchange, reply] of askForFewer) {
      t.same(actionsOn(exchange, reply), ['fewer connections'], `${exchange}: ${reply}`)
    }
    for (const reply of askForNothing) t.same(actionsOn('mx.small.example', reply), [], reply)
  },
)

t.test('every automation that comes along acts on its reply, and on no other', async (t) => {
  for (const table of ['default', ...data.providers.keys()]) {
    const [suffix = 'small.example'] = lastOf(data.providers.get(table), 'mx') ?? []
    const exchange = `mx1.${suffix}`
    const own = policyFor(data, nameOf(exchange)).automations.filter(({ from }) =>
      from.endsWith(table === 'default' ? '[default]' : `[providers.${table}]`),
    )
    const samples = replies[table] ?? {}
    t.same(own.map(({ name }) => name).sort(), Object.keys(samples).sort(), `${table} is complete`)
    for (const { name, action, threshold, forMs, from } of own) {
      const reply = samples[name] ?? ''
      const { site, clock, actions, send } = open(exchange)
      const kind = reply.startsWith('5') ? 'bounced' : 'deferred'
      for (let i = 0; i < threshold.times; i++) {
        t.same(actions, [], `${table} ${name}: not before the threshold`)
        await clock.advance(minute)
        t.equal(send({ kind, reply }), undefined)
      }
      t.same(
        actions,
        [{ action, name, from, until: clock.now() + forMs, reply }],
        `${table} ${name}: ${action}`,
      )
      t.equal(site.learned().suspension !== null, action === 'suspend')
      t.equal(site.learned().active.length, action === 'suspend' ? 0 : 1)
    }
  }
})

t.test('the companies at Microsoft have the automations of Outlook', async (t) => {
  for (const exchange of ['a-com.mail.protection.outlook.com', 'a-com.k-v1.mx.microsoft']) {
    const { actions, send } = open(exchange)
    send(deferred(replies.outlook?.['server busy'] ?? ''))
    t.match(actions, [{ action: 'suspend', name: 'server busy' }], exchange)
  }
})

t.test('only what a server refuses with sets an automation off', async (t) => {
  const words = replies.yahoo?.TSS04 ?? ''
  for (const outcome of [
    { kind: 'delivered', reply: words },
    deferred(`Given up after 3 attempts. The last one: ${words}`),
    deferred('Connection lost at data: too many connections'),
    deferred('250 [TSS04]'),
    { kind: 'deferred' },
  ] as const) {
    const { site, actions, send } = open('mta7.am0.yahoodns.net')
    t.equal(send(outcome), undefined)
    t.same(actions, [])
    t.equal(site.learned().suspension, null)
  }
  const { actions, send } = open('mta7.am0.yahoodns.net')
  send({ kind: 'connect-failed', reply: words })
  t.match(actions, [{ name: 'TSS04' }], 'a banner is the server’s word too')
})

t.test('a threshold counts within its time', async (t) => {
  const { clock, actions, send } = open('aspmx.l.google.com')
  const reply = replies.google?.['unusual rate'] ?? ''
  send(deferred(reply))
  await clock.advance(hour)
  send(deferred(reply))
  t.same(actions, [], 'an hour apart')
  await clock.advance(hour - 1)
  send(deferred(reply))
  t.match(actions, [{ action: 'slow down' }])
})

t.test('slowed down, a site keeps to it for the time and no longer', async (t) => {
  const { site, clock, actions, send, room } = open('mta7.am0.yahoodns.net')
  const reply = replies.yahoo?.TS02 ?? ''
  t.equal(send(deferred(reply)), undefined)
  t.match(send(delivered), {
    gate: 'rate',
    why: /^1 message a minute until 2026-11-21 12:30 UTC, as the receiver answered: 4\d\d .*TS02/,
  })
  let sent = 0
  for (let second = 0; second < 29 * 60; second++) {
    await clock.advance(1_000)
    if (send(delivered) === undefined) sent++
  }
  t.ok(sent >= 28 && sent <= 30, `${sent} in 29 minutes`)
  await clock.advance(minute)
  t.ok(send(delivered) === undefined && send(delivered) === undefined, 'fast again')
  t.equal(actions.length, 1)
  t.same(site.learned().active, [])
  t.equal(room(transactional), 10)
})

t.test('too many connections: half as many, down to one, and none lost for it', async (t) => {
  const { site, clock, actions, room } = open('mx00.mail.icloud.com')
  const reply = replies.default?.['too many connections'] ?? ''
  const refused = { kind: 'connect-failed', reply } as const
  t.equal(room(transactional), 10)
  for (let i = 0; i < 10; i++) site.started(transactional)
  for (let i = 0; i < 5; i++) site.ended(transactional, refused)
  t.equal(site.connections, 5, 'those that began together halve them once')
  for (let i = 0; i < 5; i++) site.ended(transactional, delivered)
  t.equal(site.mayStart(transactional), undefined, 'neither suspended nor slowed down')
  const again = () => {
    for (let i = site.connections; i > 0; i--) site.started(transactional)
    const before = site.connections
    for (let i = 0; i < before; i++) site.ended(transactional, i === 0 ? refused : delivered)
    return site.connections
  }
  t.same([again(), again()], [2, 1])
  t.match(actions, [{ action: 'fewer connections' }], 'told once')
  for (const seconds of [10, 20, 40]) {
    again()
    t.match(site.mayStart(transactional), {
      gate: 'suspended',
      until: clock.now() + seconds * 1_000,
    })
    await clock.advance(seconds * 1_000)
    t.equal(site.mayStart(transactional), undefined)
  }
  site.started(transactional)
  site.ended(transactional, delivered)
  t.equal(site.connections, 1)
  t.equal(site.mayStart(transactional), undefined)
  await clock.advance(90 * minute)
  t.equal(site.connections, 2)
})

t.test('told again to slow down: for longer; an alarm is raised once while it lasts', async (t) => {
  const { clock, actions, send, site } = open('mta7.am0.yahoodns.net')
  send(deferred(replies.yahoo?.TS02 ?? ''))
  await clock.advance(10 * minute)
  send(deferred(replies.yahoo?.TS02 ?? ''))
  t.match(site.learned().active, [{ until: clock.now() + 30 * minute }])
  t.equal(actions.length, 1)
  const google = open('aspmx.l.google.com')
  const reply = replies.google?.['no reverse name'] ?? ''
  for (const [waitMs, raised] of [
    [0, 1],
    [hour, 1],
    [5 * hour, 2],
  ] as const) {
    await google.clock.advance(waitMs)
    google.send({ kind: 'bounced', reply })
    t.equal(google.actions.length, raised)
  }
})

t.test('a clock that is set back makes no rate, suspension or slowness last longer', async (t) => {
  const busy = open('mta7.am0.yahoodns.net')
  while (busy.site.mayStart(transactional) === undefined) {
    busy.send(delivered)
  }
  busy.clock.setBack(3 * hour)
  t.match(busy.send(delivered), { gate: 'rate', until: busy.clock.now() + 10 })
  await busy.clock.advance(10)
  t.equal(busy.send(delivered), undefined)

  await busy.clock.advance(minute)
  busy.send(deferred(replies.yahoo?.TS02 ?? ''))
  busy.clock.setBack(3 * hour)
  t.match(busy.site.learned().active, [{ until: busy.clock.now() + 30 * minute }])

  const down = open()
  for (let i = 0; i < 2; i++) down.send(timedOut)
  down.clock.setBack(3 * hour)
  t.match(down.send(delivered), { gate: 'suspended', until: down.clock.now() + 15 * minute })
  await down.clock.advance(15 * minute)
  t.equal(down.send(delivered), undefined)
})

t.test(
  'what a clock that was ahead has suspended or slowed down is over after a restart',
  async (t) => {
    const day = 24 * hour
    for (const aheadMs of [hour, day, 60 * day]) {
      // Half an hour, and two.
      const [slowed, suspended] = ['TS02', 'TSS04'].map((name) => {
        const { clock: ahead, send, site } = open('mta7.am0.yahoodns.net')
        ahead.jump(aheadMs)
        send(deferred(replies.yahoo?.[name] ?? ''))
        return site.learned()
      })
      const { suspension = null, connections = 10 } = suspended ?? {}
      t.ok(suspension)
      const learned = { connections, suspension, active: slowed?.active ?? [] }
      const clock = new FakeClock()
      const name = nameOf('mta7.am0.yahoodns.net')
      const shaping = makeShaping({
        data,
        clock,
        random: () => 0,
        thread: 0,
        threads: 1,
        learned: [{ site: name.key, source: 'default', thread: 0, learned }],
      })
      const isShort = aheadMs < 2 * hour
      const site = shaping.site(name, 'default')
      t.equal(site.mayStart(transactional) !== undefined, isShort, `${aheadMs} ms ahead`)
      t.equal(site.learned().active.length, 0)
    }
  },
)

t.test('no limit is exceeded and the reserve is there, whatever happens', async (t) => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = seeded(seed)
    const exchange = ['mx.small.example', 'mta7.am0.yahoodns.net', 'smtp-in.orange.fr'][seed % 3]
    const { site, clock } = open(exchange)
    const { policy } = site
    const bad = Object.values(replies.yahoo ?? {}).concat(Object.values(replies.default ?? {}))
    const underWay: QueueClass[] = []
    const starts: number[] = []
    for (let step = 0; step < 6_000; step++) {
      const dice = random()
      if (dice < 0.55) {
        const klass = [transactional, automation, campaign][Math.floor(random() * 3)] ?? campaign
        if (site.mayStart(klass) === undefined) {
          site.started(klass)
          underWay.push(klass)
          starts.push(clock.now())
        }
      } else if (dice < 0.9) {
        const [klass] = underWay.splice(Math.floor(random() * underWay.length), 1)
        if (klass !== undefined) {
          const what = random()
          const reply = bad[Math.floor(random() * bad.length)]
          if (what < 0.85) site.ended(klass, delivered)
          else if (what < 0.97) site.ended(klass, random() < 0.5 ? refused : timedOut)
          else site.ended(klass, { kind: 'deferred', reply })
        }
      } else await clock.advance(Math.floor(random() * (random() < 0.05 ? 3 * hour : 2_000)))
      const bulk = underWay.filter((klass) => klass !== transactional).length
      if (underWay.length > policy.connections) t.fail(`${underWay.length} at once`)
      if (bulk > policy.connections - reserveOf(policy.connections)) t.fail(`${bulk} of bulk`)
      if (site.inFlight !== underWay.length) t.fail('the count is wrong')
      // What holds transactional mail is never bulk: other transactional mail, or the site itself.
      const held = site.mayStart(transactional)
      const { suspension, connections, active } = site.learned()
      if (held?.gate === 'connections') {
        const lowered = active.map((action) => action.connections ?? connections)
        const most = Math.min(connections, ...lowered)
        if (underWay.length < most) t.fail(`${underWay.length} of ${most}: there is room`)
      }
      if (held?.gate === 'suspended' && suspension === null) t.fail('held by no suspension')
      if (held !== undefined && held.until !== null && held.until <= clock.now()) t.fail('past')
    }
    t.ok(starts.length > 200, `seed ${seed}: ${starts.length} starts`)
    const burst = Math.ceil(policy.messagesPerMinute / 60)
    const perSecond = new Map<number, number>()
    for (const at of starts) {
      const second = Math.floor(at / 1_000)
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
    }
    t.ok(Math.max(...perSecond.values()) <= 2 * burst)
  }
})

t.test('a site is forgotten when it is idle and as usual, or long idle', async (t) => {
  const { site, clock, send } = open()
  t.equal(site.isForgettable(), true)
  site.started(transactional)
  t.equal(site.isForgettable(), false, 'in use')
  site.ended(transactional, delivered)
  await clock.advance(minute)
  t.equal(site.isForgettable(), true)
  send(refused)
  await clock.advance(minute)
  t.equal(site.isForgettable(), false, 'it has learned something')
  await clock.advance(10 * minute)
  t.equal(site.isForgettable(), true, 'that is stale by now')
  send(deferred(replies.default?.throttled ?? ''))
  await clock.advance(89 * minute)
  t.equal(site.isForgettable(), false, 'slowed down')
  await clock.advance(minute)
  t.equal(site.isForgettable(), true)
  const google = open('aspmx.l.google.com')
  google.send(deferred(replies.google?.['unusual rate'] ?? ''))
  await google.clock.advance(30 * minute)
  t.equal(google.site.isForgettable(), false, 'a threshold is half counted')
  send(timedOut)
  send(timedOut)
  await clock.advance(24 * hour)
  t.equal(site.isForgettable(), false, 'suspended until something gets through')
})

function openShaping(options: Partial<ShapingOptions> = {}) {
  const clock = new FakeClock()
  const random = () => 0
  const shaping = makeShaping({ data, clock, random, thread: 0, threads: 1, ...options })
  return { shaping, clock }
}

const mx = (exchange: string) => [{ exchange, preference: 10 }]

t.test('a reload changes limits and keeps what is under way and was learned', async (t) => {
  const { shaping, clock } = openShaping()
  const google = shaping.site(shaping.siteOf(mx('aspmx.l.google.com'), 'gmail.com'), '192.0.2.7')
  const yahoo = shaping.site(shaping.siteOf(mx('a.yahoodns.net'), 'yahoo.com'), '192.0.2.7')
  for (let i = 0; i < 4; i++) google.started(transactional)
  yahoo.started(transactional)
  yahoo.ended(transactional, deferred(replies.yahoo?.TSS04 ?? ''))
  const file = join(makeTempDir(t), 'shaping.toml')
  const reload = (own: string) => {
    writeFileSync(file, own)
    shaping.reload(loadShaping(['config/shaping.toml', file]))
  }
  reload('[providers.google]\nconnections = 3\n[providers.yahoo]\nconnections = 4')
  const again = shaping.site(shaping.siteOf(mx('aspmx.l.google.com'), 'gmail.com'), '192.0.2.7')
  t.equal(again, google, 'the same site')
  t.equal(google.inFlight, 4)
  t.match(google.mayStart(transactional), { gate: 'connections', why: '3 at once' })
  google.ended(transactional, delivered)
  t.match(google.mayStart(transactional), { gate: 'connections' })
  google.ended(transactional, delivered)
  t.equal(google.mayStart(transactional), undefined)
  t.match(yahoo.mayStart(transactional), { gate: 'suspended' })
  reload('[providers.google]\nconnections = 8')
  for (let i = 0; i < 6; i++) google.started(transactional)
  t.match(google.mayStart(transactional), { gate: 'connections', why: '8 at once' })
  await clock.advance(2 * hour)
  t.equal(yahoo.mayStart(transactional), undefined)
})

t.test('memory follows the sites in use', async (t) => {
  const { shaping, clock } = openShaping()
  for (let i = 0; i < 5_000; i++) {
    const site = shaping.site(shaping.siteOf(mx(`mx.d${i}.example`), `d${i}.example`), 'a')
    site.started(transactional)
    site.ended(transactional, i % 100 === 0 ? refused : delivered)
  }
  t.equal(shaping.size, 5_000)
  const policyAt = (host: string) => shaping.site(shaping.siteOf(mx(host), 'x.example'), 'a').policy
  t.equal(policyAt('mx.d1.example'), policyAt('mx.d2.example'), 'the same object')
  await clock.advance(minute)
  shaping.sweep()
  t.equal(shaping.size, 50, 'those that failed are remembered for a while')
  await clock.advance(10 * minute)
  shaping.sweep()
  t.equal(shaping.size, 0)
})

t.test('each source address has its own standing with a site', async (t) => {
  const told: string[] = []
  const { shaping } = openShaping({
    onAction: (site, source) => told.push(`${site.key} ${source}`),
  })
  const yahoo = shaping.siteOf(mx('a.yahoodns.net'), 'yahoo.com')
  const [one, other] = [shaping.site(yahoo, '192.0.2.7'), shaping.site(yahoo, '192.0.2.8')]
  one.started(transactional)
  one.ended(transactional, deferred(replies.yahoo?.TSS04 ?? ''))
  t.match(one.mayStart(transactional), { gate: 'suspended' })
  t.equal(other.mayStart(transactional), undefined)
  t.same(told, ['yahoo 192.0.2.7'])
})

t.test('a stop waits for the save of sites that is under way, and for no later one', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let isHeld = false
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const write: Store['write'] = async (...given) => {
    if (isHeld) await gate
    return await store.write(...given)
  }
  const { shaping, close } = await openThreadShaping(
    {
      store: { ...store, read: store.read, write },
      clock,
      log: silentLog,
      shaping: data,
      config: { warmUp: 'off', sourceAddresses: [], pools: {} },
      thread: 0,
      threads: 1,
      random: () => 0,
    } as unknown as OutboundDeps,
    { onRation() {}, onBrake() {} },
    () => {},
  )
  const site = shaping.site(nameOf('mta7.am0.yahoodns.net'), 'default')
  site.started(transactional)
  site.ended(transactional, deferred(Object.values(replies.yahoo ?? {})[0] ?? ''))
  isHeld = true
  await clock.advance(30_000)
  let isClosed = false
  const closed = close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(isClosed, false, 'it is being saved')
  release()
  await closed
  t.equal(clock.isAwaited, false, 'no timer keeps the thread alive')
  const rows = await store.read.selectFrom('site_states').select('site').execute()
  t.equal(rows.length, 1)
})
