import { nextTurn } from '../bounded/index.js'
import { dayNumber } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { addTo, type Counts, noCounts, others } from './add-figures.js'
import { type Cursors, readCursors, rowsBehind } from './cursors.js'
import { type Dimension, type FiguresQuestion, shownDay } from './question.js'
import {
  addToGroup,
  type CollectedFigures,
  type FigureGroup,
  isAsked,
  readFigures,
} from './read-figures.js'
import { readLogs } from './read-logs.js'
import { type Figures, shownFigures } from './shown.js'
import { type LoggedRow, tally } from './tally.js'

export interface Stats {
  from: string
  to: string
  groupBy: readonly Dimension[]
  /** False while the log of an older version is still being counted. */
  upToDate: boolean
  total: Figures
  groups: StatsGroup[]
}

/** The figures of a group, with the names that it was asked by. */
export interface StatsGroup extends Figures {
  day?: string
  domain?: string | null
  provider?: string | null
  tag?: { name: string; value: string } | null
  broadcastId?: string | null
  type?: 'transactional' | 'marketing' | null
  /** True for the group of everything beyond the limit. */
  other: boolean
}

/**
 * An account's figures: those that are kept, and what the logs have had since. Reads a bounded number of rows,
 * whatever the account has sent.
 */
export async function readStats(
  read: Read,
  accountId: string,
  question: FiguresQuestion,
): Promise<Stats> {
  const groups = await readFigures(read, accountId, question, question.groupBy)
  // Mail without the tag, and mail whose provider is unknown, is in the total but in no group.
  const isSome = question.breakdown === 'provider' || question.breakdown === 'tag'
  const apart = isSome && question.key === undefined
  const whole = apart ? ({ ...question, breakdown: 'broadcast' } as const) : question
  const totals = apart ? await readFigures(read, accountId, whole, []) : groups
  const { upToDate } = await readTail(read, accountId, [
    { question, collected: groups },
    ...(apart ? [{ question: whole, collected: totals }] : []),
  ])
  const total = noCounts()
  for (const { counts } of totals.groups.values()) addTo(total, counts)
  const ofProvider = question.breakdown === 'provider'
  return {
    from: shownDay(question.fromDay),
    to: shownDay(question.toDay),
    groupBy: question.groupBy,
    upToDate,
    total: shownFigures(total, ofProvider && !apart),
    groups: shownGroups(question, groups).map(({ of, counts }) => ({
      ...of,
      ...shownFigures(counts, ofProvider),
    })),
  }
}

/** The names of a group. */
type Names = Omit<StatsGroup, keyof Figures>

/** The groups with most mail by name, the others together; each day has the same ones. */
function shownGroups(
  question: FiguresQuestion,
  { groups }: CollectedFigures,
): { of: Names; counts: Counts }[] {
  const { groupBy, limit } = question
  const byDay = groupBy.includes('day')
  const isOther = (group: FigureGroup) => group.domain === others || group.key === others
  // The day is left out, because a group's rank is over all days.
  const nameOf = ({ domain, type, key }: FigureGroup) => JSON.stringify([domain, type, key])
  const sums = new Map<string, Counts>()
  for (const group of groups.values()) {
    if (isOther(group)) continue
    const sum = sums.get(nameOf(group)) ?? noCounts()
    addTo(sum, group.counts)
    sums.set(nameOf(group), sum)
  }
  const ranked = [...sums].sort(
    ([a, one], [b, two]) =>
      two.accepted - one.accepted || two.answered - one.answered || (a < b ? -1 : 1),
  )
  const ranks = new Map(ranked.slice(0, limit).map(([name], rank) => [name, rank]))
  const shown = new Map<string, { day: number; rank: number; of: Names; counts: Counts }>()
  for (const group of groups.values()) {
    const rank = ranks.get(nameOf(group)) ?? limit
    const place = `${group.day} ${rank}`
    const known = shown.get(place)
    if (known !== undefined) addTo(known.counts, group.counts)
    else {
      const of = namesOf(groupBy, group, rank === limit)
      shown.set(place, { day: group.day, rank, of, counts: { ...group.counts } })
    }
  }
  if (byDay && groupBy.length === 1) addEmptyDays(question, shown)
  return [...shown.values()].sort((a, b) => a.day - b.day || a.rank - b.rank)
}

/** A chart wants each day, those without mail too. */
function addEmptyDays(
  { fromDay, toDay }: FiguresQuestion,
  shown: Map<string, { day: number; rank: number; of: Names; counts: Counts }>,
): void {
  const days = new Set([...shown.values()].map(({ day }) => day))
  for (let day = fromDay; day <= toDay; day++) {
    if (days.has(day)) continue
    const of = { day: shownDay(day), other: false }
    shown.set(`${day} empty`, { day, rank: 0, of, counts: noCounts() })
  }
}

/** The names that were asked for; null in a group of all others. */
function namesOf(groupBy: readonly Dimension[], group: FigureGroup, other: boolean): Names {
  const { domain, key } = group
  const colon = key.indexOf(':')
  const names: Required<Omit<Names, 'other'>> = {
    day: shownDay(group.day),
    domain: other ? null : domain || null,
    provider: other ? null : key,
    tag: other ? null : { name: key.slice(0, colon), value: key.slice(colon + 1) },
    broadcastId: other ? null : key || null,
    type: other ? null : (group.type as 'transactional' | 'marketing'),
  }
  const fields = groupBy.map((one) => (one === 'broadcast' ? 'broadcastId' : one))
  return { ...Object.fromEntries(fields.map((field) => [field, names[field]])), other }
}

// How many rows of all accounts may be read for an answer. The figures are only seconds behind, except after an
// update from an older version.
const maxBehind = 10_000
const rowsAtOnce = 250

/**
 * Adds to each of `answers` what the logs have had since the figures were last counted. Where that is more than can
 * be read while a client waits, it is left out.
 */
async function readTail(
  read: Read,
  accountId: string,
  answers: readonly { question: FiguresQuestion; collected: CollectedFigures }[],
): Promise<{ upToDate: boolean }> {
  const [first] = answers[0]?.collected.parts ?? []
  // The earliest cursors among the parts: everything that any part may lack comes after them.
  let from = first?.cursors ?? (await readCursors(read))
  if ((await rowsBehind(read, from)) > maxBehind) return { upToDate: false }
  const happenings: LoggedRow[] = []
  for (let more = true; more; ) {
    const slice = await readLogs(read, from, { accountId, limit: rowsAtOnce })
    happenings.push(...slice.happenings)
    ;({ next: from, more } = slice)
    // Other requests are answered between two slices.
    await nextTurn()
  }
  for (const { question, collected } of answers) {
    for (const { fromDay, toDay, cursors } of collected.parts) {
      const lacking = happenings.filter(({ at, ...happening }) => {
        const day = dayNumber(at)
        return day >= fromDay && day <= toDay && isBehind(happening, cursors)
      })
      for (const row of tally(lacking)) if (isAsked(row, question)) addToGroup(collected, row, row)
    }
  }
  return { upToDate: true }
}

const logCursor = { event: 'event_id', consent: 'consent_id', mail: 'mail_number' } as const

/** Whether a happening comes after what the figures of a part include. */
const isBehind = ({ log, id }: Pick<LoggedRow, 'log' | 'id'>, cursors: Cursors) =>
  id > cursors[logCursor[log]]
