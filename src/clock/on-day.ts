import { keepNewest } from '../bounded/index.js'
import { instantAt } from './window.js'
import { temporal } from './zone.js'

/** A day as people write it; `year` is undefined for a birthday without a year. */
export interface CalendarDay {
  year: number | undefined
  month: number
  day: number
}

/** So many days after a day (less than 0: before it), at a time of day; each year, or only in its own year. */
export interface OnDay {
  time: string
  days: number
  isYearly: boolean
}

/** An instant (ms), and the day to which it belongs, as `2026-02-28`. */
export interface DayReached {
  at: number
  day: string
}

/** The day at the beginning of a text, `2026-11-29` or, without a year, `--11-29`; undefined where there is none. */
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
 * When the day comes next in a zone, later than `after` (ms) and in no year up to that of the day `done`; undefined if
 * it does not come any more. 29 February is on the 28th in other years. A time that is left out when clocks go forward
 * comes that much later; of a time that comes twice the first counts.
 */
export function nextOnDay(
  of: CalendarDay,
  { time, days, isYearly }: OnDay,
  { zone, after, done }: { zone: string; after: number; done?: string | null },
): DayReached | undefined {
  const doneYear = done ? Number(done.slice(0, 4)) : undefined
  const around = new Date(after).getUTCFullYear()
  // The days before or after, and the zone, may move it into the year before or behind.
  const last = Math.max(around, doneYear ?? 0) + 2
  const first = Math.max(of.year ?? 0, around - 2)
  const years = isYearly
    ? Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
    : of.year === undefined
      ? []
      : [of.year]
  for (const year of years) {
    if (isYearly && year <= (doneYear ?? -1)) continue
    // Reckoning with zones is expensive, and most years are over in any zone.
    if (Date.UTC(year, of.month - 1, of.day + days) + mostApartMs < after) continue
    const reached = reachedIn({ ...of, year }, { time, days, zone })
    if (!isYearly && reached.day === done) continue
    if (reached.at > after) return reached
  }
  return undefined
}

// The most between a day in UTC and its end elsewhere, with 29 February on the 28th.
const mostApartMs = 3 * 86_400_000
// Very many people share a day, which is reckoned once for all of them.
const mostKept = 5_000
const kept = new Map<string, DayReached>()

/** When the day falls in a year, with so many days added, at a time in a zone. */
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
