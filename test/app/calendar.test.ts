import t from 'tap'
import { startCalendar } from '../support/calendar.js'
import { FakeClock } from '../support/clock.js'

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
    ...{ dueAt: at('2026-11-21T02:30:00Z'), beganAt: at('2026-11-21T02:30:00Z'), result: 'done' },
    ...{ summary: 'It worked', problems: ['Look at this'], figures: { things: 3 }, error: null },
  })
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

t.test('a job that hangs is terminated at its limit, and others have their turn', async (t) => {
  const clock = new FakeClock(at('2026-11-21T02:29:00Z'))
  const { until, began } = await startCalendar(
    t,
    { hangs: '30 2 * * *', works: '30 2 * * *' },
    { clock, limitMs: 20 * 60_000 },
  )
  await clock.advance(60_000)
  await until('hangs', () => began().length > 0)
  await clock.advance(20 * 60_000)
  t.same(began(), ['hangs'], 'it is told to end, and the other still waits')
  await clock.advance(10_000)
  const [run] = await until('hangs', isOver)
  t.match(run, { result: 'timed out', error: /longer than 20 minutes/ })
  t.match(await until('works', isOver), [{ result: 'done' }])
})

t.test('a job is not started beside itself, by hand neither', async (t) => {
  const { calendar, until } = await startCalendar(t, { lasts: 'off', works: 'off' })
  t.match(calendar.runNow('lasts'), { kind: 'started', behind: undefined })
  await until('lasts', (runs) => runs.length === 1)
  t.match(calendar.runNow('lasts'), { kind: 'under way', since: Number })
  const other = calendar.runNow('works')
  t.match(other, { kind: 'started', behind: 'lasts' }, 'another of its lane waits for it')
  t.equal(calendar.runNow('nothing'), undefined)
})
