import t from 'tap'
import { handledAfterSetBack, handledAtStart } from '../../src/calendar/index.js'
import { readSchedule } from '../../src/config/index.js'

const at = (time: string) => Date.parse(time)
const nightly = readSchedule('0 3 * * *', 'UTC')
const hourly = readSchedule('5 * * * *', 'UTC')
const next = (schedule: typeof nightly, until: number) =>
  new Date(schedule.next(until)).toISOString().slice(0, 16)

t.test('what was missed is due since its first time', async (t) => {
  const known = { schedule: nightly.text, until: at('2026-11-18T03:00Z') }
  const until = handledAtStart(nightly, known, at('2026-11-21T12:00Z'))
  t.equal(next(nightly, until), '2026-11-19T03:00')
})

t.test('a job that is new, or was changed, has nothing to make up for', async (t) => {
  const now = at('2026-11-21T12:00Z')
  t.equal(handledAtStart(nightly, undefined, now), now)
  t.equal(handledAtStart(nightly, { schedule: '0 4 * * * UTC', until: 0 }, now), now)
})

t.test('a clock set back lets jobs run at the new times, and none soon again', async (t) => {
  const back = (schedule: typeof nightly, lastAt: string, now: string) =>
    next(schedule, handledAfterSetBack(schedule, at(lastAt), at(now)))
  t.equal(
    back(nightly, '2026-11-20T03:00Z', '2026-11-20T10:00Z'),
    '2026-11-21T03:00',
    'by a day: one day after the last run',
  )
  t.equal(
    back(nightly, '2026-11-21T02:50Z', '2026-11-21T02:55Z'),
    '2026-11-22T03:00',
    'by ten minutes: not ten minutes after it',
  )
  t.equal(back(hourly, '2026-11-20T10:05Z', '2026-11-20T10:20Z'), '2026-11-20T11:05')
})

t.test('a clock that was set back while the appliance was down is followed too', async (t) => {
  const known = { schedule: hourly.text, until: at('2026-11-22T12:05Z') }
  const until = handledAtStart(hourly, known, at('2026-11-21T12:20Z'))
  t.equal(next(hourly, until), '2026-11-21T13:05')
  t.equal(handledAtStart(hourly, { ...known, until }, at('2026-11-21T12:25Z')), until)
})
