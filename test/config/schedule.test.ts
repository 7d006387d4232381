import t from 'tap'
import { jobCatalogue, jobNames, readSchedule } from '../../src/config/index.js'
import { faultOfCron } from '../../src/config/schedule.js'

const at = (time: string) => Date.parse(time)
const times = (expression: string, zone: string, from: string, count: number) => {
  const schedule = readSchedule(expression, zone)
  const found: string[] = []
  for (let now = at(from); found.length < count; ) {
    now = schedule.next(now)
    found.push(new Date(now).toISOString().slice(0, 16))
  }
  return found
}
const days = (zone: string) => {
  const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' })
  return (ms: number) => format.format(ms)
}

t.test('a job of a time that the clocks skip runs once that day, after the gap', async (t) => {
  t.same(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
  t.same(times('15 2 * * *', 'America/New_York', '2026-03-07T12:00Z', 2), [
    '2026-03-08T07:00',
    '2026-03-09T06:15',
  ])
})

t.test('a job of a time that comes twice runs once that day, at the first', async (t) => {
  t.same(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00Z', 3), [
    '2026-10-24T00:30',
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
  const schedule = readSchedule('30 2 * * *', 'Europe/Berlin')
  for (let now = at('2026-10-25T00:30Z'); now < at('2026-10-26T01:30Z'); now += 600_000) {
    t.equal(schedule.next(now), at('2026-10-26T01:30Z'), 'whenever the calendar asks')
  }
})

t.test('a date that comes only in some years is due, one that never comes is not', async (t) => {
  t.equal(faultOfCron('0 0 29 2 *'), undefined)
  t.same(times('0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', 1), ['2104-02-29T00:00'])
  t.match(faultOfCron('0 0 30 2 *'), /is never due/)
  t.match(faultOfCron('*/5 0 29 2 *'), /less than 10 minutes apart/)
})

t.test('a job of every half hour runs on evenly over both changes', async (t) => {
  for (const from of ['2026-03-28T23:00Z', '2026-10-24T23:00Z']) {
    const found = times('*/30 * * * *', 'Europe/Berlin', from, 10).map((time) => at(`${time}Z`))
    t.ok(found.every((time, i) => i === 0 || time - (found[i - 1] ?? 0) === 1_800_000))
  }
})

/** The days on which clocks change in 2026: by an hour at 2 or 3 o'clock, by half an hour at 2. */
const changes = [
  ['Europe/Berlin', '2026-03-29', '02:00', '03:00'],
  ['Europe/Berlin', '2026-10-25', '02:00', '03:00'],
  ['America/New_York', '2026-03-08', '02:00', '03:00'],
  ['America/New_York', '2026-11-01', '01:00', '02:00'],
  ['Australia/Lord_Howe', '2026-10-04', '02:00', '02:30'],
  ['Australia/Lord_Howe', '2026-04-05', '01:30', '02:00'],
] as const

t.test('no due time of any job is lost or doubled where clocks change', async (t) => {
  const all = [...jobNames.map((name) => jobCatalogue[name].cron), '15 1,2 * * *', '0,40 1-3 * * *']
  for (const [zone, day, from, to] of changes) {
    const wall = new Intl.DateTimeFormat('sv', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    })
    const isSkipped = /^2026-(03|10-04)/.test(day)
    for (const cron of new Set(all)) {
      const due = (zone: string, of: (at: number) => string) => {
        const schedule = readSchedule(cron, zone)
        const found: string[] = []
        const end = at(`${day}T00:00Z`) + 40 * 3_600_000
        for (let now = at(`${day}T00:00Z`) - 40 * 3_600_000; now < end; now = schedule.next(now)) {
          if (of(now).startsWith(day)) found.push(of(now).slice(11))
        }
        return found
      }
      const seen = due(zone, (ms) => wall.format(ms))
      // What a day without a change has.
      const usual = due('UTC', (ms) => new Date(ms).toISOString().slice(0, 16).replace('T', ' '))
      const isAffected = (time: string) => time >= from && time < to
      const expected = usual.flatMap((time) => {
        if (!isAffected(time)) return [time]
        if (/^\S+ \*/.test(cron) && !cron.includes('*/')) return isSkipped ? [] : [time, time]
        return [isSkipped ? to : time]
      })
      // Two that are skipped are one run.
      const once = isSkipped ? [...new Set(expected)] : expected
      t.same(seen.sort(), once.sort(), `${cron} ${zone} ${day}`)
    }
  }
})

t.test('every daily job of the catalogue runs once a day, in every kind of zone', async (t) => {
  const daily = jobNames.filter((name) => /^\d+ \d+ \* \* \*$/.test(jobCatalogue[name].cron))
  const crons = [...daily.map((name) => jobCatalogue[name].cron), '30 2 * * *', '0 0 * * *']
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Lagos']) {
    const dayOf = days(zone)
    for (const cron of new Set(crons)) {
      const { next } = readSchedule(cron, zone)
      const seen: string[] = []
      for (let now = at('2026-01-01T12:00Z'); now < at('2026-12-31T00:00Z'); ) {
        now = next(now)
        seen.push(dayOf(now))
      }
      t.equal(new Set(seen).size, seen.length, `${cron} ${zone}: no day twice`)
      const missing = seen.find((day, i) => i > 0 && at(day) - at(seen[i - 1] ?? '') !== 86_400_000)
      t.equal(missing, undefined, `${cron} ${zone}: no day left out`)
    }
  }
})
