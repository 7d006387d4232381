// Thorough: days of every job of the catalogue, by a clock that moves.
import t, { type Test } from 'tap'
import { calendarJobs, openCalendar } from '../../src/app/calendar.js'
import { jobNames, loadConfig, readSchedule } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

// On a machine that may have other work.
t.setTimeout(200_000)

const minuteMs = 60_000
const dayMs = 86_400_000
const { jobs: settings } = loadConfig({ env: {} })

/** The calendar with jobs of the catalogue as they are by default, whose threads end at once. */
async function openAll(
  t: Test,
  start: string,
  { zone = 'UTC', names = jobNames as readonly string[] } = {},
) {
  const clock = new FakeClock(Date.parse(start))
  const real = await openTestStore(t, { clock })
  let busy = 0
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    busy++
    try {
      return await work()
    } finally {
      busy--
    }
  }
  const store: Store = { ...real, write: (work) => counted(() => real.write(work)) }
  // The rows of the runs are no measure: only the last hundred of a job are kept.
  const began: Record<string, number[]> = Object.fromEntries(jobNames.map((name) => [name, []]))
  const run = (name: string) =>
    counted(async () => {
      began[name]?.push(clock.now())
      return { said: { summary: 'done' } }
    })
  const calendar = await openCalendar({
    store,
    clock,
    log: silentLog,
    meter: silentMeter,
    threads: { run },
    jobs: calendarJobs(settings).filter(({ name }) => names.includes(name)),
    zone,
  })
  t.teardown(() => calendar.close())
  return {
    clock,
    began,
    /** Step by step, each when what began in the one before is written. */
    async pass(ms: number, stepMs = minuteMs) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(stepMs)
        do await new Promise((resolve) => setImmediate(resolve))
        while (busy > 0 || !clock.isAwaited)
      }
    },
  }
}

/** How often a job of the catalogue falls due after `from`, up to `to`. */
function duesOf(name: (typeof jobNames)[number], from: number, to: number): number {
  const schedule = readSchedule(settings[name], 'UTC')
  let dues = 0
  for (let at = schedule.next(from); at <= to; at = schedule.next(at)) dues++
  return dues
}

const counts = (runs: Record<string, readonly unknown[]>): Record<string, number> =>
  Object.fromEntries(Object.entries(runs).map(([name, all]) => [name, all.length]))

t.test('a clock that goes a day forward runs each job of the catalogue once', async (t) => {
  const start = '2026-11-21T12:00:30Z'
  const { clock, pass, began } = await openAll(t, start)
  const now = Date.parse(start)
  await pass(minuteMs)
  clock.jump(dayMs)
  await pass(8 * minuteMs, 10_000)
  const expected = jobNames.map((name) => {
    const missed = duesOf(name, now, now + dayMs) > 0 ? 1 : 0
    return [name, missed + duesOf(name, now + dayMs, clock.now())]
  })
  t.same(counts(began), Object.fromEntries(expected))
  const times = Object.values(began).flat()
  t.equal(new Set(times).size, times.length, 'no two in the same moment')
})

t.test('a clock that goes a day back runs none twice, and all a day later again', async (t) => {
  const { clock, pass, began } = await openAll(t, '2026-11-20T12:00:30Z')
  await pass(dayMs, 10 * minuteMs)
  const before = counts(began)
  clock.setBack(dayMs)
  await pass(3 * minuteMs)
  t.same(counts(began), before, 'nothing at once')
  await pass(dayMs, 10 * minuteMs)
  for (const [name, all] of Object.entries(began)) {
    const first = before[name] ?? 0
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
    const { pass, began } = await openAll(t, start, { zone: 'Europe/Berlin', names: daily })
    await pass(hours * 60 * minuteMs, 30 * minuteMs)
    for (const name of daily) {
      const days = (began[name] ?? []).map((at) => day.format(at))
      t.equal(days.length, 3, `${name} on three days: ${days}`)
      t.equal(new Set(days).size, 3, `${name} once each: ${days}`)
    }
  }
})
