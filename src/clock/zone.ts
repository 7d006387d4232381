import { createRequire } from 'node:module'

// Zones that were looked up. A contact may name any text, so only good ones are kept, and few.
const known = new Set<string>()

/** Whether a text is the name of a zone in the IANA database, as this Node.js has it. */
export function isZone(name: string): boolean {
  if (known.has(name)) return true
  // An offset such as +01:00 does not count: it has no summer time, and whoever writes it hardly means that.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  if (known.size < 1_000) known.add(name)
  return true
}

/**
 * Reckoning with zones. Loaded when first needed: otherwise each thread would make all of its calendars at its start.
 */
export const temporal = (): typeof import('temporal-polyfill') =>
  createRequire(import.meta.url)('temporal-polyfill')

/** What a clock in the zone shows at a time, in the form of a browser's `datetime-local`: `2026-12-01T09:00`. */
export function localTime(ms: number, zone: string): string {
  const at = temporal().Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  return at.toPlainDateTime().toString({ smallestUnit: 'minute' })
}

/**
 * What a change of clocks makes of the time that a clock in the zone shows at a moment (ms): that it comes twice, and which
 * of both this is, or the time before the change that is skipped and counts as it; undefined: nothing.
 */
export function clockChangeAt(
  ms: number,
  zone: string,
): { comesTwice: 'first' | 'second' } | { skipped: string } | undefined {
  const at = temporal().Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const shows = at.toPlainDateTime()
  const is = (which: 'earlier' | 'later') =>
    shows.toZonedDateTime(zone, { disambiguation: which }).epochMilliseconds
  if (is('earlier') !== is('later')) {
    return { comesTwice: ms === is('earlier') ? 'first' : 'second' }
  }
  // Longer than any change but that of a whole day, which some islands made once.
  const before = at.subtract({ hours: 3 })
  const skippedMs = (at.offsetNanoseconds - before.offsetNanoseconds) / 1e6
  if (skippedMs <= 0) return undefined
  const typed = shows.subtract({ milliseconds: skippedMs })
  if (typed.toZonedDateTime(zone).epochMilliseconds !== ms) return undefined
  return { skipped: typed.toString({ smallestUnit: 'minute' }) }
}

/**
 * When (ms) a clock in the zone shows the time of a `datetime-local`; undefined for a text that is none. A time that is
 * left out when clocks go forward comes that much later; of a time that comes twice the first counts (Temporal's
 * "compatible").
 */
export function timeOfLocal(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return undefined
  const { Temporal } = temporal()
  try {
    return Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime(zone)
      .epochMilliseconds
  } catch {
    return undefined
  }
}
