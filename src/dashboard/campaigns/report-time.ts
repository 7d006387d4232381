import type { BroadcastReport } from '../../broadcasts/index.js'
import { dayMs, hourMs } from '../../clock/index.js'
import type { Chart } from '../shell/chart.js'

type Hour = BroadcastReport['overTime'][number]

// Hours while there are so few of them; then days, of which the first ones say the most.
const mostHours = 36
const mostDays = 36

/** What happened over time: hours at first, then days. Undefined before anything has. */
export function reportCharts(report: BroadcastReport, zone: string): Chart[] {
  const rows = report.overTime.map((row) => ({ ...row, time: Date.parse(row.at) }))
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return []
  const byHour = last.time - first.time < mostHours * hourMs
  const step = byHour ? hourMs : dayMs
  const begin = byHour ? first.time : first.time - (first.time % dayMs)
  const count = Math.min(byHour ? mostHours : mostDays, Math.floor((last.time - begin) / step) + 1)
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    // Days are those of UTC, as they are counted.
    timeZone: byHour ? zone : 'UTC',
    ...(byHour ? { hour: '2-digit', minute: '2-digit' } : {}),
  })
  const labels = Array.from({ length: count }, (_, at) => format.format(begin + at * step))
  const valuesOf = (of: (row: Hour) => number) => {
    const values = new Array<number>(count).fill(0)
    for (const row of rows) {
      const at = Math.floor((row.time - begin) / step)
      if (at < count) values[at] = (values[at] ?? 0) + of(row)
    }
    return values
  }
  const by = byHour ? 'by hour' : 'by day'
  return [
    {
      title: `What people did, ${by}`,
      labels,
      // A line of one point is none.
      kind: count < 2 ? 'bars' : 'lines',
      series: [
        { label: 'Opened first', tone: 'c1', values: valuesOf((row) => row.openedUnique) },
        { label: 'Clicked first', tone: 'c2', values: valuesOf((row) => row.clickedUnique) },
        { label: 'Left', tone: 'c3', values: valuesOf((row) => row.unsubscribed) },
      ],
    },
    {
      title: `What servers did, ${by}`,
      labels,
      kind: 'bars',
      series: [
        { label: 'Delivered', tone: 'c2', values: valuesOf((row) => row.delivered) },
        { label: 'Bounced', tone: 'c3', values: valuesOf((row) => row.bounced) },
        { label: 'Put off', tone: 'c4', values: valuesOf((row) => row.deferred) },
      ],
    },
  ]
}
