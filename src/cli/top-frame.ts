import { styleText } from 'node:util'
import { shownBytes, shownCount, shownNumber } from '../amounts/index.js'
import { isoTime, shownFor } from '../clock/index.js'
import type { Overview } from '../doctor/index.js'
import { visibleLines } from './output.js'

// The orders in which sites can be shown.
export const sortings = ['connections', 'waiting', 'site'] as const
export type SortBy = (typeof sortings)[number]

/** What a frame is made of: two looks at the appliance, and names. */
interface Told {
  before: Overview
  now: Overview
  /** Accounts' names by their ids. */
  names: Readonly<Record<string, string>>
  sort: SortBy
}

/** The room that there is. */
interface Size {
  columns: number
  rows: number
  colours: boolean
}

/** The lines of one frame: what changed from `before` to `now`, in the room that there is. */
export function frameOf(
  { before, now, names, sort }: Told,
  { columns, rows, colours }: Size,
): string[] {
  const bold = (text: string) =>
    colours ? styleText('bold', text, { validateStream: false }) : text
  const ms = Math.max(1, now.now - before.now)
  const counted = counters(before, now, ms)
  const threads = threadRows(now, counted)
  const head = [...headLines(now, counted), '']
  const table = (header: string[], cells: string[][], widths: number[]) => {
    const line = (row: string[]) =>
      row
        .map((cell, at) => fit(cell, widths[at] ?? 10))
        .join(' ')
        .trimEnd()
        .slice(0, columns)
    return [bold(line(header)), ...cells.map(line)]
  }
  const bottom = [
    ...table(['THREAD', 'CPU', 'LAG'], threads, [14, 8, 10]),
    '',
    ...table(['ACCOUNT', 'LANES DUE'], accountRows(now, names), [30, 10]),
  ]
  // Sites get the lines that are left, and a few lines at least.
  const room = Math.max(3, rows - head.length - bottom.length - 4)
  const why = Math.max(20, columns - 66)
  const sites = table(
    ['SITE', 'CONNECTIONS', 'LANES DUE', 'GATE', 'WHY NO MORE STARTS'],
    siteRows(now, sort).slice(0, room),
    [30, 12, 10, 11, why],
  )
  return [...head, ...sites, '', ...bottom].map((line) => (colours ? line : plain(line)))
}

/** How much a count has risen per second, by the metric's name and some of its labels. */
type Counters = (name: string, labels?: Readonly<Record<string, string>>) => number

/** How much a count has risen per second. */
function counters(before: Overview, now: Overview, ms: number): Counters {
  const sum = ({ series }: Overview, name: string, labels: Readonly<Record<string, string>>) =>
    series
      .filter((one) => one.metricName === name)
      .filter((one) =>
        Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      )
      .reduce((total, { value }) => total + value, 0)
  // After a restart between the two, counters begin at 0 again.
  return (name, labels = {}) =>
    (Math.max(0, sum(now, name, labels) - sum(before, name, labels)) * 1_000) / ms
}

/** The sum of a gauge over all its labels, as it is now. */
function gauge({ series }: Overview, name: string): number {
  return series
    .filter(({ metricName }) => metricName === name)
    .reduce((total, { value }) => total + value, 0)
}

/**
 * Rates are differences between two looks at counters, so the first frame comes after one interval.
 */
function headLines(now: Overview, counted: Counters): string[] {
  const state = [...now.unhealthy, ...now.unready][0]?.says ?? 'healthy, takes mail'
  const up = shownFor(now.now - now.startedAt)
  const title = `Posthorn ${now.version}  ${clockTime(now.now)}  up ${up}  ${state}`
  if (now.series.length === 0) {
    return [title, 'No rates are known: metrics.enabled is off in the settings']
  }
  const attempts = (outcome: string) => counted('posthorn_attempts_total', { outcome })
  const rate = (name: string, value: number) => `${name} ${shownNumber(value)}/s`
  // Known some seconds after the start.
  const freeBytes = gauge(now, 'posthorn_disk_free_bytes')
  const commits = counted('posthorn_commits_total')
  const mean = (name: string) => {
    const count = counted(`${name}_count`)
    return count === 0 ? '-' : `${shownNumber((counted(`${name}_sum`) / count) * 1_000)} ms`
  }
  return [
    title,
    [
      rate('accepted', counted('posthorn_accepted_total')),
      rate('delivered', attempts('delivered') + attempts('relayed')),
      rate('put off', attempts('deferred')),
      rate('bounced', attempts('bounced')),
      `waiting ${shownCount(gauge(now, 'posthorn_queue_deliveries'))}`,
      `connections ${gauge(now, 'posthorn_connections')}`,
    ].join('   '),
    [
      rate('API', counted('posthorn_http_requests_total', { listener: 'private' })),
      rate('webhooks', counted('posthorn_webhook_attempts_total')),
      rate('writes', counted('posthorn_commit_works_total')),
      rate('commits', commits),
      `on disk in ${mean('posthorn_commit_seconds')}`,
      `turn after ${mean('posthorn_turn_wait_seconds')}`,
      ...(freeBytes === 0 ? [] : [`disk free ${shownBytes(freeBytes)}`]),
    ].join('   '),
  ]
}

/** The sites in the order that was chosen. */
function siteRows({ sites, now }: Overview, sort: SortBy): string[][] {
  const order = {
    connections: (a: Site, b: Site) => b.connections - a.connections || b.streams - a.streams,
    waiting: (a: Site, b: Site) => b.streams - a.streams || b.connections - a.connections,
    site: (a: Site, b: Site) => (a.site < b.site ? -1 : 1),
  }
  return [...sites]
    .sort(order[sort])
    .map(({ site, connections, limit, streams, gate, why, until }) => [
      site,
      `${connections}${limit === null ? '' : ` of ${limit}`}`,
      String(streams),
      gate ?? '',
      gate === null ? '' : `${until === null ? '' : `for ${shownFor(until - now)}: `}${why}`,
    ])
}

type Site = Overview['sites'][number]

// More rows are of no use on a screen that is looked at in passing.
const accountsShown = 5

/** The accounts with the most streams due. */
const accountRows = ({ accounts }: Overview, names: Told['names']): string[][] => {
  const byId = new Map<string, number>()
  for (const { accountId, streams } of accounts) {
    byId.set(accountId, (byId.get(accountId) ?? 0) + streams)
  }
  return [...byId]
    .sort(([, a], [, b]) => b - a)
    .slice(0, accountsShown)
    .map(([id, streams]) => [names[id] ?? id, String(streams)])
}

/**
 * A row a thread, with its share of one core. A thread cannot take more, so 100 % means that it is the
 * bottleneck.
 */
function threadRows(now: Overview, counted: Counters): string[][] {
  return now.series
    .filter(({ metricName }) => metricName === 'posthorn_thread_lag_seconds')
    .map(({ labels: { thread = '' }, value }) => {
      const cpu = counted('posthorn_thread_cpu_seconds_total', { thread })
      return { thread, cpu, lag: value }
    })
    .sort((a, b) => b.cpu - a.cpu || (a.thread < b.thread ? -1 : 1))
    .map(({ thread, cpu, lag }) => [
      thread,
      `${Math.round(cpu * 100)} %`,
      `${Math.round(lag * 1_000)} ms`,
    ])
}

/** The time of day, UTC: a frame in a log can be placed by it. */
const clockTime = (ms: number) => `${isoTime(ms).slice(11, 19)} UTC`

/** Names of receivers and accounts must not move the cursor or the columns. */
function fit(text: string, width: number): string {
  const shown = [...plain(text)]
  return shown.length > width
    ? `${shown.slice(0, width - 1).join('')}…`
    : shown.join('').padEnd(width)
}

/** One line, without characters that control the terminal. */
const plain = (text: string) => visibleLines(text.replaceAll(/\s*\n\s*/g, ' '))
