import { counted } from '../amounts/index.js'
import { isoTime, isTime } from '../clock/index.js'

/** A moment as pages show it: how long ago or in how long, and exactly, for `<time>`. */
export interface Moment {
  ago: string
  exact: string
  iso: string
}

const exact = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
  timeZone: 'UTC',
})

// A reader's page has many times, and an Intl object takes 50 µs to make. There are some 400 zones.
const formats = new Map<string, { day: Intl.DateTimeFormat; time: Intl.DateTimeFormat }>()

function formatsIn(timeZone: string) {
  const made = formats.get(timeZone) ?? {
    day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone }),
    time: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone }),
  }
  formats.set(timeZone, made)
  return made
}

/** The day of a time in ms since 1970, by the zone's calendar: `1 Dec 2026`. */
export const dayIn = (timeMs: number, zone: string) => formatsIn(zone).day.format(timeMs)

/** When something was made, by its id; undefined for ids without a time. RFC 9562 §5.7: the first 48 bits are ms since 1970. */
export const timeOfId = (id: string): number | undefined =>
  uuidWithTime.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
// RFC 9562 §5.7: a UUID of version 7 starts with its time; test mail has version 8.
const uuidWithTime = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A time in ms since 1970 as a clock in the zone has it: `1 Dec 2026, 09:00:00`. */
export const exactIn = (timeMs: number, zone: string) => formatsIn(zone).time.format(timeMs)

/** The same with its zone: `1 Dec 2026, 09:00:00 (Africa/Lagos)`. */
export const exactWithZone = (timeMs: number, zone: string) => `${exactIn(timeMs, zone)} (${zone})`

/** Of what is no surer than a minute: `1 Dec 2026, 09:00 (Africa/Lagos)`. */
export const minuteWithZone = (timeMs: number, zone: string) =>
  `${exactIn(timeMs, zone).replace(/:\d\d$/, '')} (${zone})`

/** A sentence whose moments are told in UTC, as the API and commands tell them, with those of a reader's zone. */
export const timesIn = (words: string, zone: string) =>
  words.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, (utc) => minuteWithZone(Date.parse(utc), zone))

/** What people call a zone: `Lagos`. */
export const placeOf = (zone: string) => zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone

/** A time in ms since 1970 as pages show it, by `nowMs`, days by the zone's calendar; 'unknown' for what is no time. */
export function moment(timeMs: number, nowMs: number, zone = 'UTC'): Moment {
  if (!isTime(timeMs)) return { ago: 'unknown', exact: 'unknown', iso: '' }
  return {
    ago: ago(timeMs, nowMs, zone),
    exact: exact.format(timeMs),
    iso: isoTime(timeMs),
  }
}

function ago(timeMs: number, nowMs: number, zone: string): string {
  // Up to a second ahead counts as now: it was written after the page had taken its own time.
  if (timeMs >= nowMs + 1_000) return ahead(timeMs, Math.ceil((timeMs - nowMs) / 1_000), zone)
  const seconds = Math.max(0, Math.floor((nowMs - timeMs) / 1000))
  if (seconds < 10) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  if (seconds < 7 * 86_400) return plural(Math.floor(seconds / 86_400), 'day', ' ago')
  return formatsIn(zone).day.format(timeMs)
}

/**
 * How long until a time. Minutes are rounded up: who waits as long as told does not come too early.
 */
function ahead(timeMs: number, seconds: number, zone: string): string {
  if (seconds < 60) return `in ${seconds} s`
  if (seconds < 3_600) return `in ${Math.ceil(seconds / 60)} min`
  if (seconds < 86_400) return `in ${Math.round(seconds / 3_600)} h`
  if (seconds < 7 * 86_400) return `in ${plural(Math.round(seconds / 86_400), 'day')}`
  return formatsIn(zone).day.format(timeMs)
}

/** `1 mail`, `1,200 mails`, and what follows. For nouns whose plural ends in s. */
export function plural(count: number, noun: string, rest = ''): string {
  return `${counted(count, noun)}${rest}`
}

/** A size in units of 1,000, as file managers and mail programs show it: `512 bytes`, `1.2 MB`. */
export function fileSize(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte')
  let [value, unit] = [bytes / 1_000, 'kB']
  for (const larger of ['MB', 'GB', 'TB']) {
    if (value < 1_000) break
    value /= 1_000
    unit = larger
  }
  // One decimal below ten: 9.95 would be rounded to '10.0'.
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`
}

/** What is too long for a row ends with an ellipsis. */
export function shortly(words: string, most = 120): string {
  const characters = [...words]
  return characters.length <= most ? words : `${characters.slice(0, most - 1).join('')}…`
}

/** The first `most` of a list that may be long. */
export function listed(items: string[], most: number): string {
  const shown = items.slice(0, most).join(', ')
  return items.length > most ? `${shown} and ${items.length - most} more` : shown
}
