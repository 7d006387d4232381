import { listAccounts } from '../accounts/index.js'
import { lastRuns, runsOf } from '../calendar/index.js'
import { type Clock, dayMs, dayNumber, isoDay, utcTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import {
  type Annex,
  escaped,
  oneLine,
  openNotices,
  pastNotices,
  titleOf,
} from '../notices/index.js'
import { type Figures, questionOf, ratio, readStats } from '../stats/index.js'
import { databaseBytes, diskRoom, type Store } from '../store/index.js'

interface Deps {
  store: Store
  clock: Clock
  config: Config
  dataDir: string
}

/** A week of one account or provider, and the week before it. */
interface Week {
  name: string
  now: Sums
  before: Sums
}

type Sums = Pick<
  Figures,
  'answered' | 'delivered' | 'relayed' | 'bouncedHard' | 'bouncedSoft' | 'complained'
>

const none: Sums = {
  answered: 0,
  delivered: 0,
  relayed: 0,
  bouncedHard: 0,
  bouncedSoft: 0,
  complained: 0,
}
const counters = [
  'answered',
  'delivered',
  'relayed',
  'bounced_hard',
  'bounced_soft',
  'complained',
] as const
// The largest accounts, so that the mail stays short; the sum counts all accounts.
const shownAccounts = 15
const shownProviders = 8
const shownOthers = 10
const GiB = 1024 ** 3

/**
 * The seven days (UTC) before today, against the seven before those: mail by account and by provider, what is open and
 * what was mended, backups, the disk and when it will be full.
 */
export async function weeklyReport(
  deps: Deps,
): Promise<{ annex: Annex; figures: Record<string, number> }> {
  const { store, clock } = deps
  const now = clock.now()
  const { read } = store
  const accounts = await weeksOfAccounts(deps, now)
  const providers = await weeksOfProviders(deps, now)
  const total = accounts.reduce<Week>((sum, week) => plus(sum, week), {
    name: 'All',
    now: none,
    before: none,
  })
  const busy = accounts.filter((week) => week.now.answered + week.before.answered > 0)
  const open = await openNotices(read)
  const mended = (await pastNotices(read, 200)).filter(
    ({ settledAt }) => settledAt !== null && now - settledAt < 7 * dayMs,
  )
  const disk = await diskOf(deps, now)
  const state = [
    disk.words,
    await backupWords(deps),
    await domainWords(deps),
    open.length === 0 ? 'Nothing is wrong' : `What is wrong (${open.length}):`,
    ...open.slice(0, shownOthers).map((one) => `- ${titleOf(one)}`),
    ...(mended.length === 0 ? [] : [`What was fixed (${mended.length}):`]),
    ...mended.slice(0, shownOthers).map((one) => `- ${titleOf(one)}`),
  ]
  const byName = (a: Week, b: Week) => b.now.answered - a.now.answered || (a.name < b.name ? -1 : 1)
  const tables = [
    { title: 'By account', weeks: [total, ...busy.sort(byName).slice(0, shownAccounts)] },
    { title: 'By provider', weeks: providers.sort(byName).slice(0, shownProviders) },
  ]
  const title = `The week from ${isoDay(now - 7 * dayMs)} to ${isoDay(now - dayMs)}`
  const { answered, delivered } = total.now
  const figures = {
    answered,
    delivered,
    databaseBytes: disk.databaseBytes,
    freeBytes: disk.freeBytes,
  }
  return { annex: annexOf(title, tables, state), figures }
}

/** One account after the other: the report has time, and mail has not. */
async function weeksOfAccounts({ store: { read } }: Deps, now: number): Promise<Week[]> {
  const weeks: Week[] = []
  for (const { id, name } of await listAccounts(read)) {
    const of = async (ago: number) => sumsOf((await readStats(read, id, asked(now, ago))).total)
    weeks.push({ name: oneLine(name, 40), now: await of(1), before: await of(8) })
  }
  return weeks
}

/** A week's figures by provider, of all accounts together. */
async function weeksOfProviders({ store: { read } }: Deps, now: number): Promise<Week[]> {
  const weeks = new Map<string, Week>()
  const today = dayNumber(now)
  const rows = await read
    .selectFrom('figures')
    .select(({ fn }) => [
      'key',
      'day',
      ...counters.map((counter) => fn.sum<number>(counter).as(counter)),
    ])
    .where('breakdown', '=', 'provider')
    .where('day', '>=', today - 14)
    .where('day', '<', today)
    .groupBy(['key', 'day'])
    .execute()
  for (const { key, day, bounced_hard: bouncedHard, bounced_soft: bouncedSoft, ...row } of rows) {
    const sums = { ...row, bouncedHard, bouncedSoft }
    const name = key === '*' ? 'others' : oneLine(key, 40)
    const isNow = day >= today - 7
    const week = { name, now: isNow ? sums : none, before: isNow ? none : sums }
    weeks.set(name, plus(weeks.get(name) ?? { name, now: none, before: none }, week))
  }
  return [...weeks.values()]
}

/** The figures of seven whole days, of which the last was so many days ago: 1 means yesterday. */
function asked(now: number, daysAgo: number) {
  const day = (ago: number) => isoDay(now - ago * dayMs)
  return questionOf({ from: day(daysAgo + 6), to: day(daysAgo), groupBy: 'type' }, now)
}

const sumsOf = (figures: Sums): Sums => plusSums(none, figures)

function plus(a: Week, b: Week): Week {
  return { name: a.name, now: plusSums(a.now, b.now), before: plusSums(a.before, b.before) }
}

const plusSums = (a: Sums, b: Sums): Sums => ({
  answered: a.answered + b.answered,
  delivered: a.delivered + b.delivered,
  relayed: a.relayed + b.relayed,
  bouncedHard: a.bouncedHard + b.bouncedHard,
  bouncedSoft: a.bouncedSoft + b.bouncedSoft,
  complained: a.complained + b.complained,
})

/** Compares with the report of a week ago, whose run has kept the figure: this needs no table. */
async function diskOf({ store, dataDir }: Deps, now: number) {
  const { freeBytes } = await diskRoom(dataDir)
  const ofDatabase = await databaseBytes(store.read)
  const sizes = `The database has ${inGiB(ofDatabase)}, ${inGiB(freeBytes)} of the disk are free`
  const earlier = (await runsOf(store.read, 'weekly-report')).find(
    ({ beganAt, figures }) => now - beganAt > 6 * dayMs && figures.freeBytes !== undefined,
  )
  const before = earlier?.figures.freeBytes
  if (earlier === undefined || before === undefined)
    return { freeBytes, databaseBytes: ofDatabase, words: sizes }
  const perDay = (before - freeBytes) / ((now - earlier.beganAt) / dayMs)
  const fullAt = now + (freeBytes / perDay) * dayMs
  const grows =
    perDay <= 0
      ? 'it did not fill'
      : fullAt - now > 730 * dayMs
        ? `${inGiB(perDay * 7)} more are used than a week before`
        : `${inGiB(perDay * 7)} more are used than a week before; full about ${isoDay(fullAt)}`
  return { freeBytes, databaseBytes: ofDatabase, words: `${sizes}; ${grows}` }
}

/** Goes by the calendar's runs, because backups by hand may have gone anywhere. */
async function backupWords({ store }: Deps): Promise<string> {
  const run = (await lastRuns(store.read)).get('backup')
  if (run === undefined) return 'No backup has been made by the calendar'
  if (run.result === 'not set up') return 'No backups are made: backup.dir is not set'
  return `The last backup (${utcTime(run.beganAt)}) ${run.result === 'done' ? 'is done' : `ended: ${run.result}`}`
}

async function domainWords({ store: { read } }: Deps): Promise<string> {
  const rows = await read
    .selectFrom('domains')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status')
    .execute()
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0
  return `Domains: ${of('verified')} verified, ${of('pending')} not`
}

const inGiB = (bytes: number) => `${(bytes / GiB).toFixed(bytes < 10 * GiB ? 2 : 0)} GiB`

interface Table {
  title: string
  weeks: readonly Week[]
}

/** In HTML and as text, since nobody knows what the operator reads mail with. */
function annexOf(title: string, tables: readonly Table[], state: readonly string[]): Annex {
  const shown = tables.filter(({ weeks }) => weeks.length > 0)
  const header = ['', 'answered', 'delivered', 'bounced', 'complained', 'week before']
  const rowOf = ({ name, now, before }: Week) => [
    name,
    whole(now.answered),
    share(now.delivered, now.answered),
    share(now.bouncedHard + now.bouncedSoft, now.answered),
    share(now.complained, now.delivered + now.relayed),
    whole(before.answered),
  ]
  const text = [
    title,
    '='.repeat(title.length),
    '',
    ...shown.flatMap((table) => [table.title, ...aligned([header, ...table.weeks.map(rowOf)]), '']),
    ...state,
  ].join('\n')
  const cell = (tag: 'th' | 'td') => (value: string, at: number) =>
    `<${tag} style="padding:3px 6px;text-align:${at === 0 ? 'left' : 'right'};border-bottom:1px solid #e5e7eb">${escaped(value)}</${tag}>`
  const html = [
    `<h2 style="font-size:17px;margin:22px 0 4px">${escaped(title)}</h2>`,
    ...shown.map(
      ({ title: name, weeks }) =>
        `<h3 style="font-size:15px;margin:14px 0 4px">${escaped(name)}</h3><div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:13px"><tr>${header.map(cell('th')).join('')}</tr>${weeks.map((week) => `<tr>${rowOf(week).map(cell('td')).join('')}</tr>`).join('')}</table></div>`,
    ),
    `<p>${state.map(escaped).join('<br>')}</p>`,
  ].join('\n')
  return { text, html }
}

const whole = (count: number) => count.toLocaleString('en')

function share(part: number, whole: number): string {
  const rate = ratio(part, whole)
  return rate === null ? '-' : `${(rate * 100).toFixed(rate < 0.01 ? 2 : 1)}%`
}

/** For the text part, in a font of fixed width; numbers stand at the right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => (row[at] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((value, at) =>
        at === 0 ? value.padEnd(widths[at] ?? 0) : value.padStart(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}
