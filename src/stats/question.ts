import { beginOfDay, dayMs, dayNumber, isoDay } from '../clock/index.js'
import { asciiName } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import type { FigureRow } from '../store/index.js'

/** What figures can be grouped by. */
export const dimensions = ['day', 'domain', 'provider', 'tag', 'broadcast', 'type'] as const
/** One of them. */
export type Dimension = (typeof dimensions)[number]

/** A question as the API and the command ask it. */
export interface StatsInput {
  from?: string
  to?: string
  groupBy?: string
  domain?: string
  type?: FigureRow['type']
  broadcastId?: string
  provider?: string
  /** `name:value`, or `name` for all of its values. */
  tag?: string
  /** Only figures of test mail, which no other figures include. */
  test?: boolean
  limit?: number
}

/** A question that can be answered. */
export interface FiguresQuestion {
  /** Days since 1970, UTC, both inclusive. */
  fromDay: number
  toDay: number
  groupBy: readonly Dimension[]
  /** Which rows of the figures have the groups. */
  breakdown: FigureRow['breakdown']
  domain: string | undefined
  type: FigureRow['type'] | undefined
  key: KeyFilter | undefined
  limit: number
}

/** Which keys of a provider, tag or campaign are asked for: one, or all values of a tag's name. */
export type KeyFilter = { is: string } | { beginsWith: string }

// A year with its leap day, so that a year can be compared.
const maxDays = 366
/** The most groups, not counting days. */
export const maxLimit = 100
const usualLimit = 20
const usualDays = 30
// Bounds the answer to about a megabyte.
const maxRows = 5_000
// A row has one key: figures by two of these are not kept, because there would be too many.
const keyed = ['provider', 'tag', 'broadcast'] as const

/** Throws a 400 for a question that cannot be answered, or not in a bounded time. */
export function questionOf(input: StatsInput, now: number): FiguresQuestion {
  const toDay = input.to === undefined ? dayNumber(now) : readDay('to', input.to)
  const fromDay = input.from === undefined ? toDay - usualDays + 1 : readDay('from', input.from)
  const days = toDay - fromDay + 1
  if (days < 1) throw wrong('`from` is after `to`')
  if (days > maxDays)
    throw wrong(`From \`from\` to \`to\` are ${days} days; at most ${maxDays} can be asked for`)
  const groupBy = readGroupBy(input.groupBy ?? 'day')
  const limit = input.limit ?? usualLimit
  const rows = (groupBy.includes('day') ? days : 1) * (isOnlyDay(groupBy) ? 1 : limit + 1)
  if (rows > maxRows) {
    throw wrong(
      `This asks for ${rows} groups, and an answer has at most ${maxRows}: ask for fewer days or a lower limit`,
    )
  }
  const filters = { provider: input.provider, tag: input.tag, broadcast: input.broadcastId }
  const told = keyed.filter((one) => groupBy.includes(one) || filters[one] !== undefined)
  if (told.length > 1) {
    throw wrong(
      `Figures are not kept by ${told.join(' and ')} together: ask for one of them at a time`,
    )
  }
  if (input.test && told.length > 0) {
    throw wrong(
      `Figures of test mail are not kept by ${told.join(' and ')}, but by day, domain and type`,
    )
  }
  const key = told[0] ?? 'broadcast'
  const breakdown = input.test ? 'test' : key
  const filter = filters[key]
  return {
    fromDay,
    toDay,
    groupBy,
    breakdown,
    limit,
    domain: input.domain && (asciiName(input.domain) || input.domain.toLowerCase()),
    type: input.type,
    key: filter === undefined ? undefined : keyFilter(breakdown, filter),
  }
}

/** The question as the key may ask it: a test key only for test figures, and a key with domains only for these. */
export function seenBy(
  { isTest, domains }: { isTest: boolean; domains: readonly string[] | null },
  question: FiguresQuestion,
): FiguresQuestion {
  if (!isTest) return question
  if (question.breakdown !== 'test') {
    throw new ApiError('forbidden', 'A key of the scope "test" sees figures of test mail alone')
  }
  if (domains === null) return question
  const domain = question.domain ?? (domains.length === 1 ? domains[0] : undefined)
  if (domain !== undefined && domains.includes(domain)) return { ...question, domain }
  throw new ApiError(
    'forbidden',
    `This key is limited to ${domains.join(', ')}: ask for one of them by \`domain\``,
  )
}

/** Whether nothing but days is asked for. */
const isOnlyDay = (groupBy: readonly Dimension[]) => groupBy.every((one) => one === 'day')

/** One or two names, each once. */
function readGroupBy(text: string): Dimension[] {
  const names = text.split(',').map((name) => name.trim())
  const known = names.filter((name): name is Dimension => dimensions.some((one) => one === name))
  if (known.length < names.length || new Set(known).size < known.length || known.length > 2) {
    throw wrong(`\`groupBy\` is one or two of ${dimensions.join(', ')}, with a comma between them`)
  }
  return known
}

/** A tag without a value means all of its values. */
function keyFilter(breakdown: FigureRow['breakdown'], text: string): KeyFilter {
  if (text === '') throw wrong(`\`${breakdown}\` is empty`)
  return breakdown === 'tag' && !text.includes(':') ? { beginsWith: `${text}:` } : { is: text }
}

/** A day as `2026-11-21`, in days since 1970. */
function readDay(name: string, text: string): number {
  const at = beginOfDay(text)
  if (at === undefined) {
    throw wrong(`\`${name}\` is not a day of the calendar; expected one such as 2026-11-21`)
  }
  return dayNumber(at)
}

/** `2026-11-21`. */
export const shownDay = (day: number) => isoDay(day * dayMs)

/** A 400. */
const wrong = (message: string) => new ApiError('validation_error', message)
