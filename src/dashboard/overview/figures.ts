import { hourMs } from '../../clock/index.js'
import {
  type AccountStanding,
  type ProtectionSettings,
  rateOf,
  readStanding,
  shownRate,
} from '../../protection/index.js'
import { questionOf, readStats } from '../../stats/index.js'
import type { Read } from '../../store/index.js'
import { plural } from '../format.js'
import type { ChartSeries } from '../shell/chart.js'

const shownDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

/** What was sent in the last 30 days and what became of it. */
export interface FiguresView {
  /** The days, as `12 Nov`. */
  labels: string[]
  series: ChartSeries[]
  totals: { label: string; value: number; rate: string | undefined; href: string }[]
  /** Whose rates these are, in words: the time that protection looks at, and what it counts. */
  window: string
  counts: string
  /** Against the rates at which protection warns and pauses. */
  rates: RateView[]
  standing: AccountStanding
  /** False while older logs are still being counted. */
  upToDate: boolean
}

/** A rate beside those at which protection warns and pauses, in words. */
export interface RateView {
  label: string
  now: string
  warn: string
  pause: string
  /** How much of the way to the pause is gone, from 0 to 1. */
  share: number
  isHigh: boolean
}

/**
 * The account's last 30 days, from the figures that are kept by day, and its rates of now, as
 * protection counts them.
 */
export async function figuresOf(
  read: Read,
  accountId: string,
  { now, settings }: { now: number; settings: ProtectionSettings },
): Promise<FiguresView> {
  const [stats, standing] = await Promise.all([
    readStats(read, accountId, questionOf({ groupBy: 'day' }, now)),
    readStanding(read, accountId, { now, settings }),
  ])
  const { total } = stats
  // People call both a bounce; protection counts the hard ones alone.
  const bounced = total.bouncedHard + total.bouncedSoft
  const inPercent = (rate: number | null) => (rate === null ? undefined : shownRate(rate))
  return {
    standing,
    window: shownWindow(settings.window),
    counts: countsOf(settings),
    upToDate: stats.upToDate,
    labels: stats.groups.map(({ day }) => shownDay.format(Date.parse(day ?? ''))),
    series: [
      { label: 'Accepted', tone: 'c1', values: stats.groups.map(({ accepted }) => accepted ?? 0) },
      { label: 'Delivered', tone: 'c2', values: stats.groups.map(({ delivered }) => delivered) },
      {
        label: 'Bounced',
        tone: 'c3',
        values: stats.groups.map((day) => day.bouncedHard + day.bouncedSoft),
      },
      { label: 'Complained', tone: 'c4', values: stats.groups.map((day) => day.complained) },
    ],
    totals: [
      { label: 'Accepted', value: total.accepted ?? 0, rate: undefined, href: log('') },
      {
        label: 'Delivered',
        value: total.delivered,
        rate: inPercent(total.rates.delivery),
        href: log('delivered'),
      },
      {
        label: 'Bounced',
        value: bounced,
        rate: inPercent(total.rates.bounce),
        href: log('bounced'),
      },
      {
        label: 'Complained',
        value: total.complained,
        rate: inPercent(total.rates.complaint),
        href: '/suppression?reason=complaint',
      },
    ],
    rates: [
      rateView('Bounces', standing.totals.bounces, standing, settings.bounces),
      rateView('Complaints', standing.totals.complaints, standing, settings.complaints),
    ],
  }
}

/** The log of the same 30 days, with one status. */
const log = (status: string) => `/emails?range=30d${status && `&status=${status}`}`

const shownWindow = (ms: number) =>
  ms % (24 * hourMs) === 0
    ? plural(ms / (24 * hourMs), 'day')
    : plural(Math.round(ms / hourMs), 'hour')

/** Why these rates differ from those above. */
const countsOf = ({ minRecipients, countSimulator }: ProtectionSettings) =>
  `They count hard bounces and proved complaints${countSimulator ? '' : ', not the mail to the simulator'}, and warn or pause from ${plural(minRecipients, 'recipient')} on.`

/** `warn` and `pause` are in millionths, as the settings have them. */
function rateView(
  label: string,
  count: number,
  { totals: { recipients } }: AccountStanding,
  { warn, pause }: { warn: number; pause: number },
): RateView {
  const rate = rateOf(count, recipients)
  return {
    label,
    now: recipients === 0 ? 'none yet' : shownRate(rate),
    warn: shownRate(warn / 1_000_000),
    pause: shownRate(pause / 1_000_000),
    share: Math.min(1, (rate * 1_000_000) / pause),
    isHigh: rate * 1_000_000 >= warn,
  }
}
