import type { Temporal } from 'temporal-polyfill'
import { temporal } from './zone.js'

/** Wall time: `from` to `to` ("09:00"; "24:00" ends a day) on ISO weekdays, 1 for Monday. */
export interface Window {
  from: string
  to: string
  /** The days on which the window opens; a window across midnight closes on the next. All by default. */
  days?: number[] | undefined
}

/** The next time that a clock on the wall shows `time` on one of the days. */
export interface TimeOfDay {
  time: string
  days?: number[]
}

// HH:MM, and 24:00 for the end of a day.
const clockTime = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/
const allDays = [1, 2, 3, 4, 5, 6, 7]

/** Whether a text is a time of day; "24:00" is one for the end of a window only. */
export const isTimeOfDay = (text: string): boolean => clockTime.test(text) && text !== '24:00'
/** Whether a text may end a window. */
export const isWindowEnd = (text: string): boolean => clockTime.test(text)

/**
 * The first instant after `now` (ms) at which a clock in the zone shows the time on one of the days. Always later than
 * `now`, so that a loop over it moves on. A time that is left out when clocks go forward comes that much later; of a
 * time that comes twice the first counts.
 */
export function nextTimeOfDay({ time, days = allDays }: TimeOfDay, zone: string, now: number) {
  let date = dateAt(zone, now)
  // Seven days hold each weekday; one more for today's time, if that is over.
  for (let ahead = 0; ahead <= 7; ahead += 1, date = date.add({ days: 1 })) {
    const at = instantAt(date, time, zone)
    if (days.includes(date.dayOfWeek) && at > now) return at
  }
  throw new Error('a time of day has no day')
}

/** `now` while the window is open, otherwise when it opens next (ms). */
export const windowOpens = (window: Window, zone: string, now: number): number =>
  openWindow(window, zone, now).opens

/** The window that is open, from `now` on, or opens next, and when it closes (ms). */
export function openWindow(
  { from, to, days = allDays }: Window,
  zone: string,
  now: number,
): { opens: number; closes: number } {
  // Yesterday's window may still be open, across midnight.
  let date = dateAt(zone, now).subtract({ days: 1 })
  for (let ahead = -1; ahead <= 15; ahead += 1, date = date.add({ days: 1 })) {
    if (!days.includes(date.dayOfWeek)) continue
    const opens = instantAt(date, from, zone)
    const closes = instantAt(to <= from ? date.add({ days: 1 }) : date, to, zone)
    // A window whose only hour is left out when clocks go forward does not open at all.
    if (now < closes && opens < closes) return { opens: Math.max(now, opens), closes }
  }
  throw new Error('a window has no day')
}

/**
 * The date on a calendar in the zone at that instant, which may have a fraction of a millisecond (steps of a rate do).
 */
export const dateAt = (zone: string, now: number): Temporal.PlainDate =>
  temporal()
    .Temporal.Instant.fromEpochMilliseconds(Math.floor(now))
    .toZonedDateTimeISO(zone)
    .toPlainDate()

/**
 * 24:00 is the beginning of the next day; a time that a change of clocks leaves out comes an hour later, as Temporal
 * does it ("compatible").
 */
export function instantAt(date: Temporal.PlainDate, time: string, zone: string): number {
  const [on, plainTime] = time === '24:00' ? [date.add({ days: 1 }), '00:00'] : [date, time]
  return on.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds
}
