import t from 'tap'
import { keepLogCopied } from '../../src/app/copy-log.js'
import { startHousekeeping } from '../../src/app/housekeeping.js'
import { pause, systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { startRollUp } from '../../src/stats/index.js'
import { makeTurns, sinceCommit } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite, answered } from '../support/postgres.js'
import { countStatements } from '../support/statements.js'
import { makeTempDir, openTestStore } from '../support/store.js'

t.test(
  'the log is copied four times a second while somebody writes, and then let be',
  async (t) => {
    const clock = new FakeClock()
    let [commits, copied, looked] = [1, 0, 0]
    const shrunkAt: number[] = []
    const backlog = { outOfRoom: false }
    const store = {
      async checkpoint({ shrink = false } = {}) {
        copied++
        if (shrink) shrunkAt.push(clock.now())
      },
      commits() {
        looked++
        return commits
      },
    }
    const copying = keepLogCopied({ store, clock, log: silentLog, backlog })
    t.teardown(copying.stop)
    for (let i = 0; i < 20; i++) {
      commits++
      await clock.advance(250)
    }
    t.ok(copied >= 20, `${copied} times in 5 s of writing`)
    await clock.advance(2_000)
    copied = looked = 0
    await clock.advance(30_000)
    t.same([copied, looked], [0, 30], 'nobody writes')
    commits++
    await clock.advance(1_000)
    t.equal(copied, 1, 'within a second of the first commit')
    await clock.advance(60_000)
    copied = 0
    await clock.advance(120_000)
    t.equal(copied, 2, 'a reader may have kept pages for long')
    t.same(shrunkAt, [], 'the log keeps its size as long as there is room')
    backlog.outOfRoom = true
    await clock.advance(25_000)
    t.equal(shrunkAt.length, 3, 'every ten seconds, also while nobody writes')
  },
)

t.test('where there is much to copy the next copy comes sooner', async (t) => {
  const clock = new FakeClock()
  let [commits, copied, takesMs] = [1, 0, 25]
  const store = {
    async checkpoint() {
      copied++
      for (const end = performance.now() + takesMs; performance.now() < end; );
    },
    commits: () => ++commits,
  }
  const log = silentLog
  const copying = keepLogCopied({ store, clock, log, backlog: { outOfRoom: false } })
  t.teardown(copying.stop)
  await clock.advance(0)
  copied = 0
  for (let i = 0; i < 10; i++) await clock.advance(80)
  t.equal(copied, 10)
  takesMs = 0
  await clock.advance(80)
  copied = 0
  for (let i = 0; i < 10; i++) await clock.advance(100)
  t.equal(copied, 4)
})

t.test('what the database decides is looked at once a commit', async (t) => {
  let [commits, looks] = [1, 0]
  const look = sinceCommit({ commits: () => commits }, async (fails: boolean) => {
    looks++
    if (fails) throw new Error('busy')
    return looks
  })
  t.equal(await look(false), 1)
  t.equal(await look(false), 1)
  commits++
  await t.rejects(look(true))
  t.equal(await look(false), 3, 'what failed comes again')
  t.equal(await look(false), 3)
})

// PostgreSQL tells of commits of all its databases.
t.test('figures are not looked for as long as nobody writes', aboutSqlite, async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const running = startRollUp({ store, clock, log: silentLog })
  t.teardown(running.stop)
  const settle = async (ms: number) => {
    for (let i = 0; i < ms / 1_000; i++) {
      await clock.advance(1_000)
      await store.write(async () => {})
      await answered()
    }
  }
  await settle(5_000)
  const counts = countStatements(t)
  await settle(20_000)
  const looks = [...counts].filter(([text]) => text.includes('figure_cursors'))
  t.same(looks, [])
})

t.test('what fails several times a second is told once a minute', async (t) => {
  const clock = new FakeClock()
  const lines: string[] = []
  const keep = (_fields: object, line: string) => void lines.push(line)
  const log = { ...silentLog, warn: keep, error: keep }
  const run = () => Promise.reject(new Error('disk I/O error'))
  const chores = ['first', 'second'].map((name) => ({
    name,
    of: 'node' as const,
    everyMs: 1_000,
    run,
  }))
  const housekeeping = startHousekeeping(clock, log, chores)
  const store = { checkpoint: run, commits: () => clock.now() }
  const backlog = { outOfRoom: false }
  const copying = keepLogCopied({ store, clock, log, backlog })
  for (let i = 0; i < 100; i++) await clock.advance(250)
  const each = ['The write-ahead log could not be copied', ...Array(2).fill('Housekeeping failed')]
  t.same(lines.sort(), each.sort(), 'each once in 25 s')
  for (let i = 0; i < 160; i++) await clock.advance(250)
  t.equal(lines.length, 6)
  await copying.stop()
  await housekeeping.stop()
})

t.test(
  'a chore that rests runs after commits, at its time, and when the clock went back',
  async (t) => {
    const clock = new FakeClock()
    let [commits, runs, isHere] = [1, 0, true]
    let next: number | undefined
    const chore = {
      name: 'asks the database',
      of: 'chores' as const,
      everyMs: 1_000,
      rests: true,
      async run() {
        runs++
        if (next === -1) throw new Error('busy')
        return next
      },
    }
    const housekeeping = startHousekeeping(clock, silentLog, [chore], {
      isHere: () => isHere,
      commits: () => commits,
    })
    t.teardown(housekeeping.stop)
    const during = async (seconds: number) => {
      const before = runs
      for (let i = 0; i < seconds; i++) await clock.advance(1_000)
      return runs - before
    }
    t.equal(await during(20), 1, 'once at first')
    commits++
    t.equal(await during(20), 1)
    commits++
    next = clock.now() + 10_500
    t.equal(await during(10), 1)
    next = undefined
    t.equal(await during(10), 1, 'when it has said')
    commits++
    next = 0
    t.equal(await during(5), 5, 'as long as something is under way')
    next = -1
    t.equal(await during(5), 5, 'a run that failed comes again')
    next = undefined
    t.equal(await during(5), 1)
    isHere = false
    commits++
    t.equal(await during(5), 0)
    isHere = true
    t.equal(await during(5), 1, 'whose duty it becomes has seen nothing')
    t.equal(await during(310), 1, 'in five minutes whatever happens')
  },
)

t.test('whoever commits, the number of commits is another one, and is not without', async (t) => {
  const dataDir = makeTempDir(t)
  const turns = makeTurns()
  const store = await openTestStore(t, { dataDir, turns })
  const writers = {
    'the thread that looks': store,
    'another thread': await openTestStore(t, { dataDir, turns, slot: 1 }),
    'another process': await openTestStore(t, { dataDir }),
  }
  // Over a server it is heard of another process's a little later.
  const changes = async (from: number) => {
    for (let i = 0; i < 100 && store.commits() === from; i++) await pause(systemClock, 20)
    return store.commits() !== from
  }
  await changes(store.commits())
  for (const [name, writer] of Object.entries(writers)) {
    const before = store.commits()
    t.notOk(await changes(before), 'nobody has committed')
    await writer.write((tx) =>
      tx.insertInto('duties').values({ name, epoch: 1, since: 0 }).execute(),
    )
    t.ok(await changes(before), name)
  }
})
