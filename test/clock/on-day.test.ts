import t from 'tap'
import { Temporal } from 'temporal-polyfill'
import { calendarDayOf, nextOnDay } from '../../src/clock/index.js'

// Clocks change in March and October, in April and September at half an hour, in March alone, and never.
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'Asia/Kolkata']
const start = Date.parse('2023-12-20T00:00:00Z')
const end = Date.parse('2033-01-10T00:00:00Z')

/** All that comes, one after the other, from a moment just before each. */
function all(birthday: string, zone: string, time: string, days: number) {
  const of = calendarDayOf(birthday)
  if (of === undefined) throw new Error(`${birthday} is no day`)
  const reached: { at: number; day: string }[] = []
  for (let after = start, done: string | null = null; ; ) {
    const next = nextOnDay(of, { time, days, isYearly: true }, { zone, after, done })
    if (next === undefined) throw new Error('A year does not come')
    if (next.at > end) return reached
    reached.push(next)
    after = next.at
    done = next.day
  }
}

t.test('each year comes once, at its time, in leap years and whatever clocks do', async (t) => {
  const birthdays = ['1990-02-28', '1992-02-29', '1991-03-01', '1990-12-31', '1990-01-01']
  // Days and hours at which clocks change somewhere, by these zones.
  const changes = [
    '1980-03-31',
    '1980-03-29',
    '1980-10-26',
    '1980-11-02',
    '1980-03-10',
    '1980-04-05',
  ]
  for (const zone of zones) {
    for (const birthday of [...birthdays, ...changes, '--02-29']) {
      for (const time of ['00:00', '01:30', '02:15', '02:30', '09:00', '23:59']) {
        for (const days of [0, -3, 7, -365, 365, -59]) {
          const reached = all(birthday, zone, time, days)
          const years = reached.map(({ day }) => Number(day.slice(0, 4)))
          const first = years[0] ?? 0
          const about = `${birthday} ${zone} ${time} ${days}`
          const expected = years.map((_, n) => first + n)
          if (!t.same(years, expected, `no year is left out or twice: ${about}`)) continue
          for (const { at, day } of reached) {
            const leap = Temporal.PlainDate.from(day).inLeapYear
            const wanted = birthday.endsWith('02-29') && !leap ? '02-28' : birthday.slice(-5)
            const shown = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
            const on = Temporal.PlainDate.from(day).add({ days })
            const wall = on.toPlainDateTime(Temporal.PlainTime.from(time))
            const lateMin = wall.until(shown.toPlainDateTime()).total('minutes')
            const isRight =
              day.slice(5) === wanted &&
              lateMin >= 0 &&
              lateMin <= 60 &&
              shown.toPlainDate().equals(on)
            if (!isRight) t.fail(`${about}: ${day} at ${shown}`)
          }
        }
      }
    }
  }
})

t.test('a year that is done does not come again, whatever the day is by then', async (t) => {
  const of = calendarDayOf('1990-06-01')
  if (of === undefined) throw new Error('no day')
  const yearly = { time: '09:00', days: 0, isYearly: true }
  const after = Date.parse('2026-05-02T00:00:00Z')
  const next = nextOnDay(of, yearly, { zone: 'UTC', after, done: '2026-05-01' })
  t.same(next, { at: Date.parse('2027-06-01T09:00:00Z'), day: '2027-06-01' })
  const once = { ...yearly, isYearly: false }
  t.equal(nextOnDay(of, once, { zone: 'UTC', after }), undefined, 'its own year is over')
  const ahead = calendarDayOf('2028-02-29T10:00:00Z')
  if (ahead === undefined) throw new Error('no day')
  t.equal(nextOnDay(ahead, once, { zone: 'UTC', after })?.day, '2028-02-29')
  t.equal(nextOnDay(ahead, once, { zone: 'UTC', after, done: '2028-02-29' }), undefined)
  t.equal(
    nextOnDay(ahead, yearly, { zone: 'UTC', after })?.day,
    '2028-02-29',
    'not before its year',
  )
  for (const no of [
    '',
    '2026-02-30',
    '2027-02-29',
    '29.2.1990',
    '1990-2-9',
    'x1990-02-09',
    '1990-02-099',
  ])
    t.equal(calendarDayOf(no), undefined, no)
})
