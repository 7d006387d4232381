import t from 'tap'
import { clockChangeAt, isZone, localTime, timeOfLocal } from '../../src/clock/index.js'

const utc = (text: string) => Date.parse(text)

t.test('a zone has a name, not an offset', async (t) => {
  for (const name of ['UTC', 'Africa/Lagos', 'America/Argentina/Buenos_Aires']) t.ok(isZone(name))
  for (const name of ['', '+01:00', 'Mars/Base', "x' or 1", 'A'.repeat(100)]) t.notOk(isZone(name))
})

t.test('what a clock shows is read back, across both changes of clocks', async (t) => {
  t.equal(timeOfLocal('2026-12-01T09:00', 'Africa/Lagos'), utc('2026-12-01T08:00Z'))
  t.equal(localTime(utc('2026-12-01T08:00Z'), 'Africa/Lagos'), '2026-12-01T09:00')
  // Left out when clocks go forward: as much later. Twice when they go back: the first.
  t.equal(timeOfLocal('2026-03-29T02:30', 'Europe/Berlin'), utc('2026-03-29T01:30Z'))
  t.equal(timeOfLocal('2026-10-25T02:30', 'Europe/Berlin'), utc('2026-10-25T00:30Z'))
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'])
    for (let at = utc('2026-01-01T00:00Z'); at < utc('2027-01-01T00:00Z'); at += 25.5 * 3_600_000) {
      const back = timeOfLocal(localTime(at, zone), zone) ?? 0
      t.ok(back === at || Math.abs(back - at) === 3_600_000, `${zone} ${at}`)
    }
})

t.test('a time that a change of clocks skips, or shows twice, is known', async (t) => {
  const at = (time: string, zone = 'Europe/Berlin') => clockChangeAt(utc(time), zone)
  t.equal(at('2027-03-28T00:59Z'), undefined)
  t.same(at('2027-03-28T01:30Z'), { skipped: '2027-03-28T02:30' })
  t.equal(at('2027-03-28T02:00Z'), undefined, '04:00, which no skipped time counts as')
  t.same(at('2027-10-31T00:30Z'), { comesTwice: 'first' })
  t.same(at('2027-10-31T01:30Z'), { comesTwice: 'second' })
  t.equal(at('2027-10-31T02:00Z'), undefined)
  t.same(at('2027-10-02T15:40Z', 'Australia/Lord_Howe'), { skipped: '2027-10-03T02:10' })
  t.equal(at('2027-03-28T01:30Z', 'Africa/Lagos'), undefined)
})

t.test('what is no time is none', async (t) => {
  for (const text of [
    '',
    'tomorrow',
    '2026-02-30T09:00',
    '2026-12-01',
    '2026-12-01T25:00',
    '2026-12-01T09:00Z',
  ])
    t.equal(timeOfLocal(text, 'UTC'), undefined, text)
})
