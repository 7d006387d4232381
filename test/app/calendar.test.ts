import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { beginRun, runsOf } from '../../src/calendar/index.js'
import { jobNames } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { startCalendar } from '../support/calendar.js'
import { FakeClock } from '../support/clock.js'
import { isPostgres } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const at = (time: string) => Date.parse(time)
const hourMs = 3_600_000
const isOver = (runs: { result: string }[]) => runs.length > 0 && runs[0]?.result !== 'running'

t.test('a job runs when it is due, and its run is recorded with what it said', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:00:00Z'))
  const { until, began } = await startCalendar(t, { works: '30 2 * * *' }, { clock })
  await clock.advance(hourMs / 2 - 1)
  t.same(began(), [], 'not a moment before')
  await clock.advance(1)
  const [run] = await until('works', isOver)
  t.match(run, {
    dueAt: at('2026-11-21T02:30:00Z'),
    beganAt: at('2026-11-21T02:30:00Z'),
    result: 'done',
    summary: 'It worked',
    problems: ['Look at this'],
    figures: { things: 3 },
    error: null,
  })
})

t.test('jobs run wherever the release lies', async (t) => {
  // Bree takes a path with such characters for code; releases lie in folders such as 0.1.0+node24.
  const odd = join(t.testdir(), "0.1.0+node24 & 'more' #1")
  symlinkSync(fileURLToPath(new URL('../support', import.meta.url)), odd)
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const folder = pathToFileURL(`${odd}/`)
  const { until } = await startCalendar(t, { works: '30 2 * * *' }, { clock, folder })
  await clock.advance(60_000)
  t.match(await until('works', isOver), [{ result: 'done', summary: 'It worked' }])
})

t.test('a job that throws is a failed run with its error, and the next run comes', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const { until } = await startCalendar(t, { throws: '30 * * * *' }, { clock })
  await clock.advance(60_000)
  t.match(await until('throws', isOver), [
    { result: 'failed', error: 'The job of the test throws', summary: null },
  ])
  await clock.advance(hourMs)
  const runs = await until('throws', (runs) => runs.length === 2 && isOver(runs))
  t.equal(runs[0]?.dueAt, at('2026-11-21T03:30:00Z'))
})

t.test('what falls due while the end of a run is being written is run', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  // Two of the start, the begin of the run, its end.
  const steps = [undefined, undefined, undefined, () => clock.advance(hourMs)]
  const afterWrite = async () => await steps.shift()?.()
  const { until } = await startCalendar(t, { works: '30 * * * *' }, { clock, afterWrite })
  await clock.advance(60_000)
  const runs = await until('works', (runs) => runs.length === 2)
  t.equal(runs[0]?.dueAt, at('2026-11-21T03:30:00Z'))
})

// One blocks its thread, which no message reaches; one has its event loop free, and never ends.
for (const hanging of ['hangs', 'waits']) {
  t.test(`a job that ${hanging} is terminated at its limit, and its lane goes on`, async (t) => {
    const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
    const { until, began } = await startCalendar(
      t,
      { [hanging]: '30 2 * * *', works: '30 2 * * *', workslong: '30 2 * * *' },
      { clock, limitMs: 20 * 60_000 },
    )
    await clock.advance(60_000)
    await until(hanging, () => began().includes(hanging))
    t.match(await until('workslong', isOver), [{ result: 'done' }], 'the other lane has no wait')
    await clock.advance(20 * 60_000)
    t.notOk(began().includes('works'), 'it is told to end, and the next of its lane still waits')
    await clock.advance(10_000)
    const [run] = await until(hanging, isOver)
    t.match(run, { result: 'timed out', error: /longer than 20 minutes/ })
    t.match(await until('works', isOver), [{ result: 'done' }])
  })
}

for (const [name, error] of [
  ['fillsdatabase', /cannot be written|database or disk is full/],
  ['fillsdisk', /ENOSPC: no space left on device/],
] as const) {
  t.test(`a job whose writes fail (${name}) is a failed run, and all else goes on`, async (t) => {
    if (isPostgres && name === 'fillsdatabase')
      return t.comment('SQLite: by its own bound of pages')
    const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
    const jobs = { [name]: '30 * * * *', works: '30 2 * * *', workslong: '30 2 * * *' }
    const { until, store } = await startCalendar(t, jobs, { clock })
    await clock.advance(60_000)
    t.match(await until(name, isOver), [{ result: 'failed', error, summary: null }])
    for (const other of ['works', 'workslong']) {
      t.match(await until(other, isOver), [{ result: 'done' }], other)
    }
    await store.write((tx) => beginRun(tx, { name: 'appliance', dueAt: 0, beganAt: 0 }))
    await clock.advance(hourMs)
    const runs = await until(name, (all) => all.length === 2 && isOver(all))
    t.match(runs[0], { result: 'failed', error }, 'it comes again')
  })
}

t.test('a job is not started beside itself, by hand neither', async (t) => {
  const { calendar, until } = await startCalendar(t, { lasts: 'off', works: 'off' })
  t.match(calendar.runNow('lasts'), { kind: 'started', behind: undefined })
  await until('lasts', (runs) => runs.length === 1)
  t.match(calendar.runNow('lasts'), { kind: 'under way', since: Number })
  const other = calendar.runNow('works')
  t.match(other, { kind: 'started', behind: 'lasts' }, 'another of its lane waits for it')
  t.equal(calendar.runNow('nothing'), undefined)
})

t.test('after a sleep of a day each job runs once, one after another', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:00:00Z'))
  const jobs = { works: '30 * * * *', worksdaily: '40 3 * * *', workslong: '50 3 * * *' }
  const { until, runs } = await startCalendar(t, jobs, { clock })
  // As a suspended machine does it: no timer runs meanwhile.
  clock.jump(24 * hourMs)
  await clock.advance(60_000)
  const began: number[] = []
  for (const name of Object.keys(jobs)) {
    const [run] = await until(name, isOver)
    began.push(run?.beganAt ?? 0)
    await clock.advance(10_000)
  }
  const [first = 0, daily = 0, long = 0] = began
  t.ok(daily - first >= 10_000 && long - first >= 20_000, `${began}`)
  await clock.advance(10 * 60_000)
  for (const name of Object.keys(jobs)) t.equal((await runs(name)).length, 1, name)
  t.equal((await runs('works'))[0]?.dueAt, at('2026-11-21T02:30:00Z'), 'since when it was due')
})

t.test('after a clock was set back by a day nothing runs twice, and all runs again', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const lines: string[] = []
  const log = { ...silentLog, warn: (_: object, text: string) => void lines.push(text) }
  const { until, runs } = await startCalendar(t, { works: '30 2 * * *' }, { clock, log })
  await clock.advance(60_000)
  await until('works', isOver)
  clock.setBack(24 * hourMs)
  await clock.advance(60_000)
  await until('works', () => lines.length > 0)
  t.match(lines, [/clock was set back/])
  await clock.advance(hourMs)
  t.equal((await runs('works')).length, 1)
  await clock.advance(23 * hourMs)
  await until('works', (all) => {
    void clock.advance(1_000)
    return all.length === 2 && isOver(all)
  })
})

t.test('a run that was cut off while the clock was ahead does not wait until then', async (t) => {
  const clock = new FakeClock(at('2027-01-21T02:29:00Z'))
  const first = await startCalendar(t, { hangs: '30 2 * * *' }, { clock })
  await clock.advance(60_000)
  await first.until('hangs', () => first.began().length === 1)
  const closed = first.close()
  await clock.advance(10_000)
  await closed
  clock.setBack(60 * 24 * hourMs)
  const second = await startCalendar(
    t,
    { hangs: '30 2 * * *' },
    { clock, dataDir: first.dataDir, limitMs: 60_000 },
  )
  await second.until('hangs', () => second.began().length === 2)
  await clock.advance(70_000)
  t.match(await second.until('hangs', isOver), [{ result: 'timed out' }, { result: 'cut off' }])
})

t.test('a clock that was set back is followed by the next look, if not by the first', async (t) => {
  const clock = new FakeClock(at('2027-01-21T02:10:00Z'))
  let fails = 0
  const beforeWrite = () => {
    if (fails === 0) return
    fails--
    throw new Error('database is locked')
  }
  const jobs = { works: '30 16 * * *' }
  const { until } = await startCalendar(t, jobs, { clock, beforeWrite })
  await clock.advance(60_000)
  fails = 1
  clock.setBack(60 * 24 * hourMs)
  await clock.advance(60_000)
  t.equal(fails, 0, 'the first look could not write')
  const [run] = await until('works', (runs) => {
    void clock.advance(hourMs / 4)
    return runs.length > 0
  })
  t.equal(run?.dueAt, at('2026-11-22T16:30:00Z'))
})

t.test('all who ask for a job that waits hear of its run', async (t) => {
  const { calendar } = await startCalendar(t, { works: 'off' })
  const [first, second] = [calendar.runNow('works'), calendar.runNow('works')]
  if (first?.kind !== 'started' || second?.kind !== 'started') throw new Error('it was to wait')
  const run = await second.ended
  const never = new Promise((resolve) => setImmediate(() => resolve('never')))
  t.same(await Promise.race([first.ended, never]), run)
})

t.test('a run that a stop cuts off ends in its time, and is made up for once', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const first = await startCalendar(t, { hangs: '30 2 * * *' }, { clock })
  await clock.advance(60_000)
  await first.until('hangs', () => first.began().length === 1)
  const closed = first.close()
  await clock.advance(10_000)
  await closed
  t.match(await first.runs('hangs'), [{ result: 'cut off', endedAt: Number }])
  const { dataDir } = first
  const second = await startCalendar(t, { hangs: '30 2 * * *' }, { clock, dataDir })
  await clock.advance(60_000)
  await second.until('hangs', () => second.began().length === 2)
  const closedAgain = second.close()
  await clock.advance(10_000)
  await closedAgain
  const third = await startCalendar(t, { hangs: '30 2 * * *' }, { clock, dataDir })
  await clock.advance(2 * hourMs)
  t.equal((await third.runs('hangs')).length, 2, 'it may be what brings the process down')
})

t.test('a job that is off runs by hand alone', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const { calendar, runs, store } = await startCalendar(t, { works: 'off' }, { clock })
  await clock.advance(48 * hourMs)
  t.same(await runs('works'), [])
  const started = calendar.runNow('works')
  t.match(started?.kind === 'started' && (await started.ended), { result: 'done', dueAt: null })
  t.same(await store.read.selectFrom('jobs').selectAll().execute(), [])
})

t.test('only the last hundred runs of a job are kept', async (t) => {
  const store = await openTestStore(t)
  for (let i = 0; i < 105; i++) {
    await store.write((tx) => beginRun(tx, { name: 'works', dueAt: i, beganAt: i }))
    if (i < 3) await store.write((tx) => beginRun(tx, { name: 'other', dueAt: i, beganAt: i }))
  }
  const runs = await runsOf(store.read, 'works', 1_000)
  t.equal(runs.length, 100)
  t.same([runs[0]?.dueAt, runs.at(-1)?.dueAt], [104, 5])
  t.equal((await runsOf(store.read, 'other')).length, 3)
})

t.test('a run that was under way at kill -9 is cut off, and made up for once', async (t) => {
  const dataDir = makeTempDir(t)
  const program = fileURLToPath(new URL('../support/die-in-job.js', import.meta.url))
  const killed = spawnSync(process.execPath, [program, dataDir, 'lasts'], { encoding: 'utf8' })
  t.equal(killed.signal, 'SIGKILL', killed.stderr)
  const clock = new FakeClock(at('2026-11-21T02:40:00Z'))
  const jobs = { lasts: '30 2 * * *' }
  const { runs, until, began } = await startCalendar(t, jobs, { clock, dataDir })
  t.match(await runs('lasts'), [{ result: 'cut off', endedAt: null, error: /ended while/ }])
  await clock.advance(60_000)
  await until('lasts', () => began().length === 2)
  t.match(await runs('lasts'), [
    { result: 'running', dueAt: at('2026-11-21T02:30:00Z') },
    { result: 'cut off' },
  ])
})

t.test('every job of the catalogue has its entry, and every entry is of a job', async (t) => {
  // The sources: bin/check puts packed entries in the places of the compiled ones.
  const entries = readdirSync('src/jobs').filter((file) =>
    readFileSync(join('src/jobs', file), 'utf8').includes('runPeriodic('),
  )
  t.same(entries.map((file) => file.slice(0, -3)).sort(), [...jobNames].sort())
})
