// Issue 44: when a campaign at a rate has left, across its hours, as a walk through every minute finds it.
import t from 'tap'
import { leavingTimes, type SendWindow } from '../../src/broadcasts/index.js'
import { turnOf } from '../../src/broadcasts/pace.js'
import { leavingOf } from '../../src/rehearsals/leaving.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

const minute = 60_000
const hour = 60 * minute

/** Looks each minute at the clock on the wall, and lets one leave where it may. */
function walk(start: number, { rate, window }: { rate: number; window: SendWindow }, most: number) {
  const shown = new Intl.DateTimeFormat('en-GB', {
    timeZone: window.zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const isOpen = (at: number) => {
    const parts = shown.formatToParts(at)
    const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
    const time = `${part('hour')}:${part('minute')}`
    const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(part('weekday')) + 1
    return (window.days ?? [day]).includes(day) && time >= window.from && time < window.to
  }
  const times: number[] = []
  for (let at = start, next = start; times.length < most; at += minute) {
    if (at < next || !isOpen(at)) continue
    times.push(at)
    next = at + hour / rate
  }
  return times
}

t.test('each mail leaves when a walk through every minute lets it', (t) => {
  const days = ['2026-03-27', '2026-10-23', '2026-12-01']
  const windows: SendWindow[] = [
    { from: '09:00', to: '12:00', zone: 'Africa/Lagos' },
    { from: '02:00', to: '03:07', days: [1, 5, 6, 7], zone: 'Europe/Berlin' },
    { from: '00:00', to: '24:00', days: [2, 3, 7], zone: 'America/New_York' },
    { from: '22:13', to: '22:50', zone: 'Australia/Lord_Howe' },
  ]
  for (const day of days) {
    for (const begins of ['02:31', '21:50']) {
      const start = Date.parse(`${day}T${begins}:00Z`)
      for (const window of windows) {
        for (const rate of [4, 60]) {
          const seen = walk(start, { rate, window }, 40)
          const { leavesAt } = leavingTimes(start, { rate, window })
          const said = seen.map((_, n) => leavesAt(n))
          t.same(said, seen, `${day} ${begins} ${rate} ${window.zone}`)
        }
      }
    }
  }
  t.end()
})

t.test('whatever the rate, it is what turns of the sending make', (t) => {
  // No rate fills it to the millisecond.
  const window = { from: '02:00', to: '02:50', zone: 'UTC' }
  const start = Date.parse('2026-12-10T00:00:00Z')
  for (const rate of [35, 70, 301, 3_607]) {
    const people = rate + 17
    const made: number[] = []
    let pacedTo: number | null = null
    let now = start
    while (made.length < people) {
      const row = { rate, send_window: JSON.stringify(window), paced_to: pacedTo, waiting: 0 }
      const turn = turnOf(Object.assign(row, { expanded_at: null }) as never, now, 0)
      made.push(...Array.from({ length: turn.most }, (_, n) => turn.leavesAt(n)))
      pacedTo = turn.pacedTo(turn.most) ?? pacedTo
      now = turn.waits?.nextAt ?? now + minute
    }
    const { leavesAt, haveLeft } = leavingTimes(start, { rate, window })
    // A turn goes on from whole milliseconds.
    const off = made.map((at, n) => Math.abs(at - (leavesAt(n) ?? 0)))
    t.ok(Math.max(...off) <= 60, `${rate}: ${Math.max(...off)} ms`)
    t.ok((haveLeft(people) ?? 0) > (made[people - 1] ?? 0) - 60, `${rate}`)
  }
  t.end()
})

t.test('a rate that is no part of an hour is rehearsed over several openings', async (t) => {
  const scheduledAt = '2026-12-10T00:00:00Z'
  const clock = new FakeClock(Date.parse('2026-12-01T08:00:00Z'))
  const rig = await openCampaigns(t, { clock })
  const window = { from: '02:00', to: '03:00', zone: 'UTC' }
  for (const [rate, last] of [
    [70, '2026-12-14T02:16'],
    [100, '2026-12-12T02:59'],
    [200, '2026-12-11T02:29'],
    [250, '2026-12-11T02:11'],
    [310, '2026-12-10T02:57'],
  ] as const) {
    const draft = await rig.create({ rate, window, scheduledAt }, { draft: true })
    const leaving = (await leavingOf(rig.store.read, draft, { people: 300, notBefore: 0 }))(0)
    const at = leaving.leavesAt(299) ?? 0
    t.equal(new Date(at).toISOString().slice(0, 16), last, `${rate}`)
    t.equal(leaving.opensAt(at + 0.4), at + 0.4, 'it is open then')
    t.ok(leaving.opensAt(leaving.startsAt + 0.4), 'and before')
  }
})
