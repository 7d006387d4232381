import { counted } from '../../amounts/index.js'
import { listAutomations } from '../../automations/index.js'
import { campaignsBetween, type DatedCampaign, neverSent } from '../../broadcasts/index.js'
import { dayNumber, hourMs, localTime, temporal, timeOfLocal } from '../../clock/index.js'
import { otherMarketing } from '../../stats/index.js'
import type { Read } from '../../store/index.js'
import { placeOf } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { linkTo } from '../shell/listing.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { audienceNames, campaignTabs } from './list.js'
import { type AudienceNames, campaignName, chipOf, isAudienceGone, shown } from './words.js'

interface CalendarDay {
  /** `2026-12-01`. */
  date: string
  number: number
  /** For a phone, where the days are a list. */
  words: string
  isToday: boolean
  campaigns: {
    page: string
    name: string
    /** `09:00`, or `09:00 of their own clocks`. */
    time: string
    people: string
    chip: { text: string; tone: Tone }
  }[]
  /** How many more there are, and where. */
  more: { text: string; href: string } | undefined
  /** Marketing mails that are of no campaign. */
  others: string | undefined
}

interface CalendarView {
  base: string
  accountId: string
  tabs: { label: string; href: string; here: boolean }[]
  month: string
  zone: string
  earlier: { label: string; href: string } | undefined
  later: { label: string; href: string } | undefined
  weekdays: readonly string[]
  /** Undefined: a day of another month. */
  weeks: (CalendarDay | undefined)[][]
  isEmpty: boolean
  /** There are more than a page can have. */
  isCut: boolean
  automations: { name: string; log: string; waiting: string }[]
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
// So many of a day, and of one that is asked for by itself.
const mostOfDay = 4
const mostOfChosenDay = 60
// So many of a month are read.
const mostOfMonth = 1_000
const mostAutomations = 50
// Longer names are cut: a month of them has to fit into a page.
const longestName = 60
const [firstYear, lastYear] = [2000, 2199]

/** A month of campaigns: what was sent and what is scheduled, by the reader's days, and which automations send. */
export async function calendarPage(
  { store: { read } }: CampaignPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, now, person, query } = visit
  const zone = person.timeZone ?? 'UTC'
  const path = `${base}/campaigns/calendar`
  const today = localTime(now, zone).slice(0, 10)
  const month = monthIn(query.get('month') ?? '') ?? monthIn(today.slice(0, 7))
  if (month === undefined) throw new Error('today is in no month')
  const next = month.add({ months: 1 })
  const [from, to] = [beginOf(`${month}-01`, zone), beginOf(`${next}-01`, zone)]
  const near = { from: from - clocksApartMs, to: to + clocksApartMs, limit: mostOfMonth }
  const dated = await campaignsBetween(read, account.id, near)
  const found = dated
    .map((one) => byOwnClocks(one, zone))
    .filter(({ at }) => at >= from && at < to)
    .toSorted((a, b) => a.at - b.at)
  const names = await audienceNames(
    read,
    account.id,
    found.filter(({ sent_at }) => sent_at === null),
  )
  const others = await otherMarketing(read, account.id, {
    from: dayNumber(Date.parse(`${month}-01`)),
    to: dayNumber(Date.parse(`${next}-01`)) - 1,
  })
  const byDate = byDateIn(found, { month: `${month}`, days: month.daysInMonth, to, zone })
  const chosen = query.get('day')
  const dayOf = (date: string): CalendarDay => {
    const all = byDate.get(date) ?? []
    const some = all.slice(0, date === chosen ? mostOfChosenDay : mostOfDay)
    const mails = others.get(dayNumber(Date.parse(date))) ?? 0
    const left = all.length - some.length
    const href =
      date === chosen ? `${base}/campaigns` : linkTo(path, { month: `${month}`, day: date })
    return {
      date,
      number: Number(date.slice(8)),
      words: dayWords.format(Date.parse(date)),
      isToday: date === today,
      campaigns: some.map((one) => entryOf(one, { base, zone, names })),
      more: left > 0 ? { text: `${left} more`, href } : undefined,
      others:
        mails > 0 ? `${shown(mails)} other marketing ${mails === 1 ? 'mail' : 'mails'}` : undefined,
    }
  }
  const monthLink = (by: number) => {
    const other = month.add({ months: by })
    if (other.year < firstYear || other.year > lastYear) return undefined
    return {
      label: monthName.format(Date.parse(`${other}-01`)),
      href: linkTo(path, { month: `${other}` }),
    }
  }
  const view: CalendarView = {
    base,
    accountId: account.id,
    tabs: await campaignTabs(read, { accountId: account.id, base, here: 'calendar' }),
    month: monthWords(`${month}`),
    zone: zone === 'UTC' ? 'UTC' : `the time in ${placeOf(zone)}`,
    earlier: monthLink(-1),
    later: monthLink(1),
    weekdays,
    weeks: weeksOf(`${month}`, month.daysInMonth).map((week) =>
      week.map((date) => (date === undefined ? undefined : dayOf(date))),
    ),
    isEmpty: found.length === 0,
    isCut: dated.length >= mostOfMonth,
    automations: await sendingAutomations(read, { accountId: account.id, base }),
  }
  return page('campaigns/calendar', view, { title: `Campaigns in ${view.month}` })
}

// Between the first and the last of the world's clocks, and as long again.
const clocksApartMs = 27 * hourMs

/** One that everybody gets at one time of their own clock stands at that time of the reader's, as it is theirs too. */
function byOwnClocks(one: DatedCampaign, zone: string): DatedCampaign {
  const { local_zone: own, scheduled_at: moment } = one
  if (own === null || moment === null) return one
  return Object.assign({}, one, { at: timeOfLocal(localTime(moment, own), zone) ?? one.at })
}

/**
 * By the date of the reader's calendar on which they begin; `found` is in that order. When each day begins is reckoned once:
 * to ask a zone for each of a thousand campaigns took half of the page's time.
 */
function byDateIn(
  found: readonly DatedCampaign[],
  { month, days, to, zone }: { month: string; days: number; to: number; zone: string },
) {
  const dates = Array.from({ length: days }, (_, at) => dateIn(month, at + 1))
  const ends = dates.map((_, at) => (at + 1 < days ? beginOf(dateIn(month, at + 2), zone) : to))
  const byDate = new Map<string, DatedCampaign[]>(dates.map((date) => [date, []]))
  let day = 0
  for (const one of found) {
    while (day < days - 1 && one.at >= (ends[day] ?? to)) day++
    byDate.get(dates[day] ?? '')?.push(one)
  }
  return byDate
}

const dateIn = (month: string, day: number) => `${month}-${String(day).padStart(2, '0')}`

const dayWords = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
})
const monthFormat = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' })
const monthWords = (month: string) => monthFormat.format(Date.parse(`${month}-01`))

/** Undefined for what is no month. */
function monthIn(text: string) {
  const [, year, month] = /^(\d{4})-(\d\d)$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined) return undefined
  if (year < firstYear || year > lastYear || month < 1 || month > 12) return undefined
  return temporal().Temporal.PlainYearMonth.from({ year, month })
}

/** When a day begins in the zone (ms). Where clocks skip midnight, it begins when they go on. */
const beginOf = (date: string, zone: string): number => timeOfLocal(`${date}T00:00`, zone) ?? 0

/** The dates of a month in weeks from Monday on; undefined for the days of other months. */
function weeksOf(month: string, days: number): (string | undefined)[][] {
  // 0 is Sunday.
  const before = (new Date(`${month}-01`).getUTCDay() + 6) % 7
  const cells = Array.from({ length: Math.ceil((before + days) / 7) * 7 }, (_, at) => {
    const day = at - before + 1
    return day < 1 || day > days ? undefined : dateIn(month, day)
  })
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7))
}

function entryOf(
  one: DatedCampaign,
  { base, zone, names }: { base: string; zone: string; names: AudienceNames },
) {
  const name = campaignName(one)
  return {
    page: `${base}/campaigns/${one.id}`,
    name: [...name].length > longestName ? `${[...name].slice(0, longestName).join('')}…` : name,
    time: `${localTime(one.at, zone).slice(11)}${one.local_zone === null ? '' : ' of their own clocks'}`,
    people: peopleWords(one, names),
    chip: chipOf(one),
  }
}

/** To how many it goes, or went. */
function peopleWords(one: DatedCampaign, names: AudienceNames): string {
  if (one.sent_at === null && isAudienceGone(one, names)) return 'its list or segment is gone'
  if (neverSent(one) > 0) {
    const all = Math.max(one.audience, one.recipients)
    return `${shown(one.recipients - one.cancelled)} of ${counted(all, 'person', 'people')}`
  }
  return counted(one.sent_at === null ? one.audience : one.recipients, 'person', 'people')
}

/** Those that send by themselves: a run that begins today may send on any day. */
async function sendingAutomations(
  read: Read,
  { accountId, base }: { accountId: string; base: string },
): Promise<CalendarView['automations']> {
  const found = await listAutomations(read, accountId, { limit: mostAutomations })
  return found
    .filter(({ status }) => status === 'enabled')
    .map(({ id, name, running, waiting, paused_at }) => ({
      name,
      log: linkTo(`${base}/emails`, { automationId: id }),
      waiting:
        paused_at === null
          ? counted(running + waiting, 'person is in it', 'people are in it')
          : 'Paused: it sends nothing',
    }))
}
