import { keepNewest } from '../bounded/index.js'
import { instantAt } from './window.js'
import { temporal } from './zone.js'

/** A day as people write it; of a birthday that says no year it is undefined. */
export interface CalendarDay {
  year: number | undefined
  month: number
  day: number
}

/** So many days after a day (before it: less than 0), at a time of day; each year, or in its own year alone. */
export interface OnDay {
  time: string
  days: number
  isYearly: boolean
}

/** An instant (ms), and the day of which it is, as `2026-02-28`. */
export interface DayReached {
  at: number
  day: string
}

/** The day that a text begins with, `2026-11-29` or, without a year, `--11-29`; undefined for what is none. */
export function calendarDayOf(text: string): CalendarDay | undefined {
  const [, of, monthOf, dayOf] = /^(\d{4}|-)-(\d\d)-(\d\d)(?:$|[T ])/.exec(text) ?? []
  if (of === undefined) return undefined
  const [month, day] = [Number(monthOf), Number(dayOf)]
  const year = of === '-' ? undefined : Number(of)
  // A leap year has every day that a year may have.
  const { Temporal } = temporal()
  try {
    Temporal.PlainDate.from({ year: year ?? 2000, month, day }, { overflow: 'reject' })
  } catch {
    return undefined
  }
  return { year, month, day }
}

/**
 * When it comes next in a zone, later than `after` (ms) and of no year up to that of the day `done`; undefined if it does
 * not come any more. 29 February is on the 28th in years that have none. A time that is left out when clocks go forward
 * comes as much later; of one that comes twice the first counts.
 */
export function nextOnDay(
  of: CalendarDay,
  { time, days, isYearly }: OnDay,
  { zone, after, done }: { zone: string; after: number; done?: string | null },
): DayReached | undefined {
  const doneYear = done ? Number(done.slice(0, 4)) : undefined
  const around = new Date(after).getUTCFullYear()
  // By so many days before or after, and by its zone, it may fall into the year beside it.
  const last = Math.max(around, doneYear ?? 0) + 2
  const first = Math.max(of.year ?? 0, around - 2)
  const years = isYearly
    ? Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
    : of.year === undefined
      ? []
      : [of.year]
  for (const year of years) {
    if (isYearly && year <= (doneYear ?? -1)) continue
    // Reckoning with zones is dear, and most years are over by any.
    if (Date.UTC(year, of.month - 1, of.day + days) + mostApartMs < after) continue
    const reached = reachedIn({ ...of, year }, { time, days, zone })
    if (!isYearly && reached.day === done) continue
    if (reached.at > after) return reached
  }
  return undefined
}

// What lies between a day in UTC and its end elsewhere, with 29 February on the 28th.
const mostApartMs = 3 * 86_400_000
// Very many people share a day: of each it is reckoned once.
const mostKept = 5_000
const kept = new Map<string, DayReached>()

/** When the day of a year is, so many days after it, at a time in a zone. */
function reachedIn(
  { year, month, day }: CalendarDay & { year: number },
  { time, days, zone }: { time: string; days: number; zone: string },
): DayReached {
  const name = `${year}-${month}-${day} ${days} ${time} ${zone}`
  const known = kept.get(name)
  if (known !== undefined) return known
  const date = temporal().Temporal.PlainDate.from({ year, month, day })
  const reached = { at: instantAt(date.add({ days }), time, zone), day: date.toString() }
  keepNewest(kept, name, reached, mostKept)
  return reached
}
