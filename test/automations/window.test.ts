import t from 'tap'
import { zoneOf } from '../../src/automations/definition/zone.js'
import {
  isZone,
  nextTimeOfDay,
  type TimeOfDay,
  type Window,
  windowOpens,
} from '../../src/clock/index.js'
import { durationMs } from '../../src/rules/index.js'

const at = (text: string) => Date.parse(text)
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

t.test('durations are weeks to seconds; a day has 24 hours', async (t) => {
  const rows: [string, number | undefined][] = [
    ['PT1S', 1_000],
    ['PT90M', 5_400_000],
    ['P1D', 86_400_000],
    ['P1W', 604_800_000],
    ['P1W2DT3H4M5S', 788_645_000],
    ['P90D', 90 * 86_400_000],
    ['PT0S', 0],
    ['P', undefined],
    ['PT', undefined],
    ['P1DT', undefined],
    ['P1M', undefined],
    ['P1Y', undefined],
    ['P1Y2D', undefined],
    ['PT1.5H', undefined],
    ['-P1D', undefined],
    ['P-1D', undefined],
    ['1D', undefined],
    ['p1d', undefined],
    [' P1D', undefined],
    ['P1D\n', undefined],
    ['PT1M1H', undefined],
    [`P${'9'.repeat(30)}D`, undefined],
  ]
  for (const [text, expected] of rows) t.equal(durationMs(text), expected, JSON.stringify(text))
})

t.test(
  'the next time of day, when clocks change, on leap days and on days of the week',
  async (t) => {
    // zone, from, time of day, next
    const rows: [string, string, TimeOfDay, string][] = [
      // Berlin: forward on 29 March 2026 at 02:00, back on 25 October at 03:00.
      ['Europe/Berlin', '2026-03-28T12:00Z', { time: '09:00' }, '2026-03-29T07:00:00Z'],
      ['Europe/Berlin', '2026-03-27T12:00Z', { time: '09:00' }, '2026-03-28T08:00:00Z'],
      ['Europe/Berlin', '2026-03-28T12:00Z', { time: '02:30' }, '2026-03-29T01:30:00Z'],
      ['Europe/Berlin', '2026-03-29T01:30Z', { time: '02:30' }, '2026-03-30T00:30:00Z'],
      ['Europe/Berlin', '2026-10-24T12:00Z', { time: '02:30' }, '2026-10-25T00:30:00Z'],
      ['Europe/Berlin', '2026-10-25T00:30Z', { time: '02:30' }, '2026-10-26T01:30:00Z'],
      ['Europe/Berlin', '2026-10-25T01:15Z', { time: '02:30' }, '2026-10-26T01:30:00Z'],
      // New York: forward on 8 March 2026, back on 1 November.
      ['America/New_York', '2026-03-07T20:00Z', { time: '09:00' }, '2026-03-08T13:00:00Z'],
      ['America/New_York', '2026-03-08T05:00Z', { time: '02:15' }, '2026-03-08T07:15:00Z'],
      ['America/New_York', '2026-11-01T04:30Z', { time: '01:30' }, '2026-11-01T05:30:00Z'],
      ['America/New_York', '2026-11-01T05:30Z', { time: '01:30' }, '2026-11-02T06:30:00Z'],
      // Sydney: back on 5 April 2026, forward on 4 October.
      ['Australia/Sydney', '2026-04-04T02:00Z', { time: '09:00' }, '2026-04-04T23:00:00Z'],
      ['Australia/Sydney', '2026-10-03T02:00Z', { time: '09:00' }, '2026-10-03T22:00:00Z'],
      ['Australia/Sydney', '2026-10-03T02:00Z', { time: '02:30' }, '2026-10-03T16:30:00Z'],
      // Lord Howe: by half an hour, forward on 4 October 2026 at 02:00, back on 5 April.
      ['Australia/Lord_Howe', '2026-10-03T12:00Z', { time: '02:15' }, '2026-10-03T15:45:00Z'],
      ['Australia/Lord_Howe', '2026-04-04T12:00Z', { time: '01:45' }, '2026-04-04T14:45:00Z'],
      // No summer time.
      ['Africa/Lagos', '2026-03-28T23:00Z', { time: '09:00' }, '2026-03-29T08:00:00Z'],
      // Exactly then is not later.
      ['UTC', '2026-05-01T09:00Z', { time: '09:00' }, '2026-05-02T09:00:00Z'],
      ['UTC', '2026-05-01T08:59:59.999Z', { time: '09:00' }, '2026-05-01T09:00:00Z'],
      ['UTC', '2028-02-28T10:00Z', { time: '09:00' }, '2028-02-29T09:00:00Z'],
      ['UTC', '2027-02-28T10:00Z', { time: '09:00' }, '2027-03-01T09:00:00Z'],
      ['UTC', '2028-02-29T10:00Z', { time: '00:00' }, '2028-03-01T00:00:00Z'],
      // 1 May 2026 is a Friday.
      ['UTC', '2026-05-01T10:00Z', { time: '09:00', days: [1, 2, 3] }, '2026-05-04T09:00:00Z'],
      ['UTC', '2026-05-01T10:00Z', { time: '09:00', days: [5] }, '2026-05-08T09:00:00Z'],
      ['UTC', '2026-05-01T08:00Z', { time: '09:00', days: [5] }, '2026-05-01T09:00:00Z'],
      ['Asia/Tokyo', '2026-05-01T16:00Z', { time: '09:00', days: [6] }, '2026-05-02T00:00:00Z'],
      // Samoa had no 30 December 2011, a Friday.
      ['Pacific/Apia', '2011-12-29T20:00Z', { time: '09:00' }, '2011-12-30T19:00:00Z'],
    ]
    for (const [zone, from, until, expected] of rows) {
      const name = `${zone} ${from} ${JSON.stringify(until)}`
      t.equal(iso(nextTimeOfDay(until, zone, at(from))), expected, name)
    }
  },
)

t.test('a window opens at its time, across midnight and when clocks change', async (t) => {
  const day: Window = { from: '09:00', to: '17:00', days: [1, 2, 3, 4, 5] }
  const night: Window = { from: '22:00', to: '06:00', days: [5] }
  const rows: [string, string, Window, string | 'open'][] = [
    ['UTC', '2026-05-01T08:59:59Z', day, '2026-05-01T09:00:00Z'],
    ['UTC', '2026-05-01T09:00:00Z', day, 'open'],
    ['UTC', '2026-05-01T16:59:59Z', day, 'open'],
    ['UTC', '2026-05-01T17:00:00Z', day, '2026-05-04T09:00:00Z'],
    // Friday's night is open on Saturday morning, Saturday's is not.
    ['UTC', '2026-05-01T23:00:00Z', night, 'open'],
    ['UTC', '2026-05-02T05:59:59Z', night, 'open'],
    ['UTC', '2026-05-02T06:00:00Z', night, '2026-05-08T22:00:00Z'],
    ['UTC', '2026-05-02T23:00:00Z', night, '2026-05-08T22:00:00Z'],
    ['UTC', '2026-05-01T05:00:00Z', night, '2026-05-01T22:00:00Z'],
    ['UTC', '2026-05-01T23:30:00Z', { from: '20:00', to: '24:00' }, 'open'],
    ['UTC', '2026-05-02T00:00:00Z', { from: '20:00', to: '24:00' }, '2026-05-02T20:00:00Z'],
    ['UTC', '2026-05-02T00:00:00Z', { from: '00:00', to: '24:00' }, 'open'],
    // The night in which clocks go forward is an hour shorter, the other an hour longer.
    ['Europe/Berlin', '2026-03-29T03:59:00Z', { from: '22:00', to: '06:00' }, 'open'],
    [
      'Europe/Berlin',
      '2026-03-29T04:00:00Z',
      { from: '22:00', to: '06:00' },
      '2026-03-29T20:00:00Z',
    ],
    ['Europe/Berlin', '2026-10-25T04:59:00Z', { from: '22:00', to: '06:00' }, 'open'],
    [
      'Europe/Berlin',
      '2026-10-25T05:00:00Z',
      { from: '22:00', to: '06:00' },
      '2026-10-25T21:00:00Z',
    ],
    ['America/New_York', '2026-03-09T12:30:00Z', day, '2026-03-09T13:00:00Z'],
    ['America/New_York', '2026-03-06T13:30:00Z', day, '2026-03-06T14:00:00Z'],
    ['Africa/Lagos', '2026-03-27T16:00:00Z', day, '2026-03-30T08:00:00Z'],
    ['Australia/Sydney', '2026-10-05T21:59:00Z', day, '2026-10-05T22:00:00Z'],
    // Its times are left out: it opens as much later, or not at all on that Sunday.
    [
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      { from: '02:15', to: '02:45' },
      '2026-03-29T01:15:00Z',
    ],
    [
      'Europe/Berlin',
      '2026-03-28T22:00:00Z',
      { from: '02:30', to: '03:15', days: [7] },
      '2026-04-05T00:30:00Z',
    ],
    ['UTC', '2028-02-28T17:00:00Z', { from: '09:00', to: '17:00' }, '2028-02-29T09:00:00Z'],
  ]
  for (const [zone, from, window, expected] of rows) {
    const opens = windowOpens(window, zone, at(from))
    const name = `${zone} ${from} ${JSON.stringify(window)}`
    t.equal(opens === at(from) ? 'open' : iso(opens), expected, name)
  }
})

t.test(
  'the zone is the one named, else the contact’s, else the automation’s, else UTC',
  async (t) => {
    const contact = (timeZone: string) => ({
      id: 'c',
      email: 'a@b.test',
      firstName: null,
      lastName: null,
      phone: null,
      metadata: { timeZone },
      createdAt: 0,
    })
    const tokyo = contact('Asia/Tokyo')
    t.equal(zoneOf('Africa/Lagos', tokyo, 'Europe/Berlin'), 'Africa/Lagos')
    t.equal(zoneOf('contact', tokyo, 'Europe/Berlin'), 'Asia/Tokyo')
    t.equal(zoneOf(undefined, tokyo, 'Europe/Berlin'), 'Asia/Tokyo')
    t.equal(zoneOf(undefined, contact('Nowhere/At_all'), 'Europe/Berlin'), 'Europe/Berlin')
    t.equal(zoneOf(undefined, contact('+01:00'), undefined), 'UTC')
    t.equal(zoneOf('contact', undefined, undefined), 'UTC')
    for (const name of [
      '',
      '+01:00',
      'x'.repeat(100),
      'Europe/Berlin\n',
      'constructor',
      '../../etc',
    ]) {
      t.equal(isZone(name), false, JSON.stringify(name))
    }
  },
)
