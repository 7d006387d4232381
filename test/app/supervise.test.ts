import t from 'tap'
import { supervise } from '../../src/app/supervise.js'
import { makeQuiet } from '../../src/app/thread-meter.js'
import { loadPlans } from '../../src/billing/index.js'
import { explain } from '../../src/cli/failure.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { forgetTurn, makeTurns } from '../../src/store/index.js'
import { joinTurns } from '../../src/store/turns.js'
import { loadTrackingAgents } from '../../src/tracking/index.js'

const entry = new URL('../support/mortal-thread.js', import.meta.url)
const data = () => ({
  config: loadConfig({ env: {} }),
  dataDir: '',
  plans: loadPlans(packageFile('config/plans.toml')),
  agents: loadTrackingAgents([packageFile('config/tracking-agents.toml')]),
  publicUrl: '',
  slot: 3,
  turns: makeTurns(),
  backlog: makeBacklogMemory(),
  index: 0,
})
const metrics = { add() {}, forget() {}, restarted() {} }
const options = { name: 'mortal', entry, log: silentLog, clock: systemClock, metrics }

t.test('a thread that dies is started again, and its turn to write is freed', async (t) => {
  const given = data()
  const lives = new Int32Array(new SharedArrayBuffer(4))
  const thread = await supervise({ ...options, data: { ...given, lives } as typeof given })
  t.equal(thread.port, 4_711)
  t.equal(Atomics.load(lives, 0), 1)
  // It takes the turn, and dies with it.
  thread.send({ kind: 'ring', due: [] })
  const main = joinTurns(given.turns, 0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await main.take()
  main.release()
  while (Atomics.load(lives, 0) < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  t.pass('a second life')
  await thread.stop(1_000)
})

t.test('one that cannot be created once is created later', async (t) => {
  const lives = new Int32Array(new SharedArrayBuffer(4))
  let starts = 0
  const given = data()
  // As on a machine that has no thread left: at the second start `new Worker` throws at once.
  const uncloneable = {
    ...given,
    lives,
    get publicUrl() {
      return ++starts === 2 ? ((() => {}) as unknown as string) : ''
    },
  }
  const thread = await supervise({ ...options, data: uncloneable })
  thread.send({ kind: 'ring', due: [] })
  while (thread.downSince === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  while (thread.downSince !== undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(Atomics.load(lives, 0), 2)
  t.equal(starts, 3)
  await thread.stop(1_000)
})

// The race is of instructions: `Atomics` is stood in for, so that the thread dies at the worst of moments.
t.test('a turn that is handed to a thread that has just died is free', async (t) => {
  const turns = makeTurns()
  const main = joinTurns(turns, 0)
  const { store } = Atomics
  t.teardown(() => {
    Atomics.store = store
  })
  await main.take()
  // The ticket of who waits in slot 3 and will not wake.
  new Int32Array(turns)[2 + 3] = 1
  // Passed over so often that it is to get the turn by name.
  for (let passed = 0; passed < 3; passed++) {
    main.release()
    await main.take()
  }
  // Its supervisor looks whose turn it is just before the hand-over.
  Atomics.store = ((words: Int32Array, at: number, value: number) => {
    if (value !== 4) return store(words, at, value)
    Atomics.store = store
    forgetTurn(turns, 3)
    return store(words, at, value)
  }) as typeof Atomics.store
  main.release()
  const other = joinTurns(turns, 4)
  await other.take()
  other.release()
})

t.test('hits are given to a thread, or whoever gives them keeps them', async (t) => {
  const thread = await supervise({ ...options, data: data() })
  t.equal(await thread.record('[]'), true)
  t.equal(await thread.record('deadly'), false, 'it died with them')
  t.equal(await thread.record('[]'), false, 'the next one is not there yet')
  while (thread.downSince !== undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(await thread.record('[]'), true)
  const stopped = thread.stop(1_000)
  t.equal(await thread.record('[]'), false, 'it ends')
  await stopped
})

t.test('one that cannot start because the disk is full says that, and is no fault', async (t) => {
  const started = supervise({ ...options, data: { ...data(), dataDir: 'full' } })
  const error = await started.catch((error: unknown) => error)
  t.equal(
    explain(error),
    'error: The database cannot be written just now: database or disk is full. The disk is full',
  )
})

t.test('one that cannot start says so', async (t) => {
  await t.rejects(supervise({ ...options, data: { ...data(), dataDir: 'fail' } }), /cannot start/)
})

t.test('one that is added later and cannot start is told, and tried again', async (t) => {
  const errors: unknown[] = []
  const log = { ...silentLog, error: (...given: unknown[]) => errors.push(given) }
  const failing = { ...data(), dataDir: 'fail' }
  const told = { ...log, child: () => told }
  const thread = await supervise({ ...options, log: told, isLater: true, data: failing })
  t.not(thread.downSince, undefined)
  while (!thread.isDying) await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(errors[0], [{ error: /cannot start/ }, 'A thread died; another one is started'])
  await thread.stop(1_000)
})

t.test('a thread that has worked gives back its memory once it is quiet, and once', (t) => {
  const isOver = makeQuiet()
  const during = (readings: number, seconds: number) =>
    Array.from({ length: readings }, () => isOver(seconds)).filter((over) => over).length
  t.equal(during(60, 0.001), 1, 'its start was work')
  t.equal(during(60, 0.001), 0, 'it has done nothing since')
  t.equal(during(10, 0.5), 0, 'it works')
  t.equal(during(14, 0.01), 0, 'its next work may come soon')
  t.equal(during(60, 0.01), 1)
  t.end()
})

t.test('one that does not obey is ended', async (t) => {
  const thread = await supervise({ ...options, data: { ...data(), dataDir: 'deaf' } })
  const began = Date.now()
  await thread.stop(50)
  t.ok(Date.now() - began < 5_000)
})

t.test('one whose event loop does not turn is known by its silence', async (t) => {
  const thread = await supervise({ ...options, data: data() })
  const tick = (times: number) => {
    for (let i = 0; i < times; i++) thread.tick()
  }
  tick(2)
  t.equal(thread.silentMs, 4_000)
  thread.send({ kind: 'reload', agents: data().agents })
  while (thread.silentMs > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  thread.send({ kind: 'retry', lanes: 'all' })
  thread.send({ kind: 'reload', agents: data().agents })
  tick(30)
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.equal(thread.silentMs, 60_000)
  t.equal(thread.downSince, undefined, 'it did not die')
  await thread.stop(50)
})

t.test('many questions at once are answered each, with one listener', async (t) => {
  const warnings: Error[] = []
  const warned = (warning: Error) => warnings.push(warning)
  process.on('warning', warned)
  const thread = await supervise({ ...options, data: data() })
  const stream = { lane: 'a.test', class: 0, accountId: 'a' } as const
  const answers = await Promise.all(Array.from({ length: 30 }, () => thread.gateOf(stream)))
  t.equal(new Set(answers).size, 30)
  t.notOk(answers.includes(undefined))
  await thread.stop(1_000)
  process.off('warning', warned)
  t.same(warnings, [])
})
