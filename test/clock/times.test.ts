import t from 'tap'
import { dayMs, dayNumber, isRecent } from '../../src/clock/index.js'

t.test('a day begins at midnight UTC, before 1970 too', async (t) => {
  t.equal(dayNumber(0), 0)
  t.equal(dayNumber(dayMs - 1), 0)
  t.equal(dayNumber(dayMs), 1)
  t.equal(dayNumber(-1), -1)
  t.equal(dayNumber(Date.UTC(2026, 10, 24, 23, 59)), 20_781)
})

t.test(
  'what was done by a clock that was ahead is not recent for as long as it was ahead',
  async (t) => {
    t.equal(isRecent(1_000, 1_999, 1_000), true)
    t.equal(isRecent(1_000, 2_000, 1_000), false)
    // The clock was set back a little, and a lot.
    t.equal(isRecent(1_999, 1_000, 1_000), true)
    t.equal(isRecent(9_000, 1_000, 1_000), false)
  },
)
