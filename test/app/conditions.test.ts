import t, { type Test } from 'tap'
import { type ConditionDeps, makeObserver } from '../../src/app/conditions.js'
import { findPlan, loadPlans, setPlan } from '../../src/billing/index.js'
import { beginRun, endRun, keepHandled } from '../../src/calendar/index.js'
import { loadConfig, readSchedule } from '../../src/config/index.js'
import type { Reachability } from '../../src/outbound/index.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig, pass } from '../support/outbound.js'
import { openTestStore } from '../support/store.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const GiB = 1024 ** 3

const wellCrew: ConditionDeps['crew'] = {
  unwell: () => [],
  dyingThreads: () => [],
  gateOf: async () => undefined,
  contacts: async () => [],
}

/** What is found of a kind, with the appliance's parts as a test has them. */
async function open(t: Test, own: Partial<ConditionDeps> = {}) {
  const clock = new FakeClock(Date.parse('2026-11-21T02:00:00Z'))
  const store = own.store === undefined ? await openTestStore(t, { clock }) : undefined
  const observe = makeObserver({
    clock,
    config: loadConfig({ env: {} }),
    dataDir: '/srv/posthorn',
    crew: wellCrew,
    plans: loadPlans('config/plans.toml'),
    backlog: { size: 1 },
    roomOf: async () => ({ freeBytes: 1e12, totalBytes: 2e12 }),
    ...(store === undefined ? own : { store, ...own }),
  } as ConditionDeps)
  const found = async (kind: string) => (await observe()).raised.filter((one) => one.kind === kind)
  return { clock, store, observe, found }
}

t.test(
  'a disk that fills is told in two stages, and a large one only when it matters',
  async (t) => {
    let room = { freeBytes: 50 * GiB, totalBytes: 100 * GiB }
    const { found } = await open(t, { roomOf: async () => room })
    t.same(await found('disk'), [])
    room = { freeBytes: 9 * GiB, totalBytes: 100 * GiB }
    t.match(await found('disk'), [
      {
        key: '/srv/posthorn',
        severity: 'daily',
        text: [
          'The disk of /srv/posthorn is nearly full: 9.0 GiB of 100.0 GiB are left',
          /takes mail/,
        ],
        fix: [/^df -h \/srv\/posthorn; /, 'or a larger disk'],
      },
    ])
    room = { freeBytes: 0.9 * GiB, totalBytes: 100 * GiB }
    t.match(await found('disk'), [
      { severity: 'burning', text: [/921 MiB of 100\.0 GiB/, /takes no mail any more/] },
    ])
    room = { freeBytes: 11 * GiB, totalBytes: 10_000 * GiB }
    t.same(await found('disk'), [], 'more than 10 GiB are enough, of whatever')
  },
)

t.test('threads that hang, are down or die again and again burn, each once', async (t) => {
  let asked: number | undefined
  const { found } = await open(t, {
    crew: {
      ...wellCrew,
      unwell(forMs) {
        asked = forMs
        return [
          { thread: 'outbound-0', state: 'hung', forMs: 70_000 },
          { thread: 'inbound', state: 'down', forMs: 90_000 },
        ]
      },
      dyingThreads: () => ['inbound', 'tracking'],
    },
  })
  const raised = await found('thread')
  t.same(
    raised.map(({ key, severity, text }) => [key, severity, text]),
    [
      ['inbound', 'burning', 'The thread inbound of Posthorn is down and does not start'],
      ['tracking', 'burning', 'The thread tracking of Posthorn stops again and again'],
      ['outbound-0', 'burning', 'The thread outbound-0 of Posthorn does not answer'],
    ],
  )
  t.match(raised[0]?.fix, [/journalctl/, /restart posthorn/])
  t.equal(asked, minuteMs)
})

t.test(
  'where no server can be reached all mail is put off: that burns until it flows',
  async (t) => {
    const clock = new FakeClock()
    const names = ['one', 'two', 'three', 'four']
    // The receiver is at 127.0.0.1; at 127.0.0.2 nobody listens, as behind a port that is blocked.
    const records = (address: string) =>
      names.map((name) => [`mx.${name}.test`, { a: [address] }] as const)
    const dns = Object.fromEntries([
      ...names.map((name) => [
        `${name}.test`,
        { mx: [{ preference: 10, exchange: `mx.${name}.test` }] },
      ]),
      ...records('127.0.0.2'),
      ['mx.four.test', { a: ['127.0.0.1'] }],
    ])
    const rig = await outboundRig(t, { clock, dns })
    const { found } = await open(t, {
      store: rig.store,
      clock,
      backlog: rig.backlog,
      crew: { ...wellCrew, contacts: async () => rig.contacts() },
    })
    for (const name of names.slice(0, 3)) await rig.send({ to: `ada@${name}.test` })
    const ofConnections = async () =>
      (await found('queue-stuck')).filter(({ key }) => key === 'connections')
    await pass(rig, clock, 20 * minuteMs)
    t.same(await ofConnections(), [], 'not yet')
    await pass(rig, clock, 45 * minuteMs)
    t.match(await ofConnections(), [
      {
        severity: 'burning',
        text: [
          'No mail leaves: no server at all can be reached',
          /^For \d\d minutes every connection has failed, to 3 domains such as /,
          /127\.0\.0\.2|ECONNREFUSED/,
          /port 25/,
        ],
        fix: ['posthorn doctor', /\[outbound\.failover\]/],
      },
    ])
    await rig.becomes(await rig.send({ to: 'ada@four.test' }), 'delivered')
    t.same(await ofConnections(), [], 'one that answers settles it')
    await pass(rig, clock, 2 * hourMs)
    t.same(await ofConnections(), [], 'those three are dead, which is no fault of ours')
  },
)

t.test('what one thread reaches, none is cut off from', async (t) => {
  const at = Date.parse('2026-11-21T01:00:00Z')
  const failed = (lane: string, lastAt: number) => ({ lane, firstAt: at, lastAt, why: 'silence' })
  const silent: Reachability = {
    reachedAt: at - 1,
    unreached: ['a.test', 'b.test', 'c.test'].map((lane) => failed(lane, at + 50 * minuteMs)),
  }
  let contacts: Reachability[] = [silent, { reachedAt: at - 2, unreached: [] }]
  const { found } = await open(t, { crew: { ...wellCrew, contacts: async () => contacts } })
  t.match(await found('queue-stuck'), [{ key: 'connections' }])
  contacts = [silent, { reachedAt: at + 55 * minuteMs, unreached: [] }]
  t.same(await found('queue-stuck'), [])
  contacts = [{ ...silent, unreached: silent.unreached.slice(0, 2) }]
  t.same(await found('queue-stuck'), [], 'two domains may be dead')
  const empty = await open(t, {
    backlog: { size: 0 },
    crew: { ...wellCrew, contacts: async () => [silent] },
  })
  t.same(await empty.found('queue-stuck'), [], 'no mail waits')
})

t.test('a backup that waits behind a job that hangs is told as overdue', async (t) => {
  const { clock, store, found } = await open(t)
  if (store === undefined) return
  const schedule = readSchedule('13 2 * * *', 'UTC')
  const until = clock.now()
  const run = await store.write(async (tx) => {
    await keepHandled(tx, 'backup', { schedule: schedule.text, until })
    return await beginRun(tx, { name: 'backup-check', dueAt: until, beganAt: until })
  })
  await clock.advance(3 * hourMs)
  t.same(await found('backup'), [], 'it may take its time')
  await clock.advance(hourMs)
  const waits = (name: string, severity: string, text: object) => ({
    key: name,
    severity,
    stage: 'overdue',
    text: [`The job ${name} is overdue`, /^It has been due for 4 hours/, text],
  })
  for (let look = 1; look < 60; look++) {
    t.same(await found('backup'), [], 'after a sleep it has its turn within minutes')
  }
  const behind = /^The job backup-check is under way, and has to end first/
  t.match(await found('backup'), [waits('backup', 'burning', behind)])
  await store.write((tx) =>
    endRun(tx, run, { endedAt: clock.now(), result: 'done', said: { summary: 'It is good' } }),
  )
  t.match(await found('backup'), [waits('backup', 'burning', /^Nothing is in its way/)])
  await store.write((tx) =>
    keepHandled(tx, 'backup', { schedule: schedule.text, until: clock.now() }),
  )
  t.same(await found('backup'), [])
})

t.test('a plan that was not read at the start burns until the account has another', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const { store, found } = await open(t, { plans: { ...plans, email: [plans.otherAccounts] } })
  const set = (name: string) => store?.write((tx) => setPlan(tx, 'a', findPlan(plans.email, name)))
  await store?.write((tx) =>
    tx.insertInto('accounts').values({ id: 'a', name: 'a', created_at: 0 }).execute(),
  )
  await set('Free')
  t.same(await found('plan'), [])
  await set('Growth')
  t.match(await found('plan'), [{ key: 'a', severity: 'burning', fix: Array }])
  await set('Free')
  t.same(await found('plan'), [])
})

t.test('a look that fails leaves its kind alone; only the database is a fault', async (t) => {
  const { observe } = await open(t, { roomOf: async () => Promise.reject(new Error('EIO')) })
  const seen = await observe()
  t.notOk(seen.kinds.includes('disk'))
  t.ok(seen.kinds.includes('thread'))
  t.equal(seen.fault, undefined)
})
