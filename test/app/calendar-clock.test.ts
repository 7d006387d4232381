import t, { type Test } from 'tap'
import { calendarJobs, openCalendar } from '../../src/app/calendar.js'
import { runsOf } from '../../src/calendar/index.js'
import { jobNames, loadConfig, readSchedule } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

// On a machine that may have other work.
t.setTimeout(200_000)

const minuteMs = 60_000
const dayMs = 86_400_000
const { jobs: settings } = loadConfig({ env: {} })

/** The calendar with all jobs of the catalogue as they are by default, whose threads end at once. */
async function openAll(t: Test, start: string, zone = 'UTC') {
  const clock = new FakeClock(Date.parse(start))
  const store = await openTestStore(t, { clock })
  let running = 0
  const run = async () => {
    running++
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return { said: { summary: 'done' } }
  }
  const calendar = await openCalendar({
    ...{ store, clock, log: silentLog, meter: silentMeter, threads: { run } },
    ...{ jobs: calendarJobs(settings), zone },
  })
  t.teardown(() => calendar.close())
  const isIdle = async () => {
    const open = await store.read
      .selectFrom('job_runs')
      .select('id')
      .where('result', '=', 'running')
      .execute()
    return running === 0 && open.length === 0
  }
  return {
    clock,
    /** Minute by minute, each when what began in the one before is written. */
    async pass(ms: number, stepMs = minuteMs) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(stepMs)
        do await new Promise((resolve) => setTimeout(resolve, 2))
        while (!(await isIdle()))
      }
    },
    async runs() {
      const each = await Promise.all(jobNames.map((name) => runsOf(store.read, name)))
      return Object.fromEntries(jobNames.map((name, i) => [name, each[i] ?? []]))
    },
  }
}

const counts = (runs: Record<string, readonly unknown[]>) =>
  Object.fromEntries(Object.entries(runs).map(([name, all]) => [name, all.length]))

t.test('a clock that goes a day forward runs each job of the catalogue once', async (t) => {
  const start = '2026-11-21T12:00:30Z'
  const { clock, pass, runs } = await openAll(t, start)
  const now = Date.parse(start)
  await pass(minuteMs)
  clock.jump(dayMs)
  await pass(8 * minuteMs, 10_000)
  const expected = jobNames.map((name) => {
    const due = readSchedule(settings[name], 'UTC').next(now) <= now + dayMs
    return [name, due ? 1 : 0]
  })
  t.same(counts(await runs()), Object.fromEntries(expected))
  const began = Object.values(await runs()).flatMap((all) => all.map((run) => run.beganAt))
  t.equal(new Set(began).size, began.length, 'no two in the same moment')
})

t.test('a clock that goes a day back runs none twice, and all a day later again', async (t) => {
  const { clock, pass, runs } = await openAll(t, '2026-11-20T12:00:30Z')
  await pass(dayMs, 10 * minuteMs)
  const before = await runs()
  clock.setBack(dayMs)
  await pass(10 * minuteMs)
  t.same(counts(await runs()), counts(before), 'nothing at once')
  await pass(dayMs, 10 * minuteMs)
  for (const [name, all] of Object.entries(await runs())) {
    const first = before[name]?.length ?? 0
    const twice = `${name}: as often as on the day before`
    t.ok(Math.abs(all.length - 2 * first) <= 1, `${twice}: ${first}, then ${all.length}`)
  }
})

t.test('when clocks change each daily job of the catalogue runs once a day', async (t) => {
  const daily = jobNames.filter((name) => /^\d+ \d+ \* \* \*$/.test(settings[name]))
  const day = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin', dateStyle: 'short' })
  // Three days in Berlin, of which the second lacks an hour, or has one more.
  for (const [start, hours] of [
    ['2026-03-27T22:59:30Z', 71],
    ['2026-10-23T21:59:30Z', 73],
  ] as const) {
    const { pass, runs } = await openAll(t, start, 'Europe/Berlin')
    await pass(hours * 60 * minuteMs, 30 * minuteMs)
    const all = await runs()
    for (const name of daily) {
      const days = (all[name] ?? []).map(({ beganAt }) => day.format(beganAt))
      t.equal(days.length, 3, `${name} on three days: ${days}`)
      t.equal(new Set(days).size, 3, `${name} once each: ${days}`)
    }
  }
})
