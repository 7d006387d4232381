import { hourMs, openWindow, utcTime, type Window, windowOpens } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'
import type { Store } from '../store/index.js'
import type { Broadcast } from './broadcast.js'

/** How long before leaving mails are made: after a pause, or the end of its hours, at most these still leave. */
export const aheadMs = 60_000

/** The greatest rate that a campaign may ask for. */
export const mostAnHour = 1_000_000

/** The hours in which a campaign may leave. */
export interface SendWindow extends Window {
  zone: string
}

/** How a campaign leaves: null where it leaves as any other. */
export interface Pace {
  /** The most mails an hour. */
  rate: number | null
  window: SendWindow | null
}

/** The pace in a campaign's row. */
export const paceOf = ({ rate, send_window }: Pick<Broadcast, 'rate' | 'send_window'>): Pace => ({
  rate,
  window: send_window === null ? null : (JSON.parse(send_window) as SendWindow),
})

/** When mail of a campaign may leave, from a moment on (ms): then, or when its hours begin next. */
export const opensFrom = ({ window }: Pick<Pace, 'window'>, at: number): number =>
  window === null ? at : windowOpens(window, window.zone, at)

/**
 * When the hours begin (ms) before which no mail can be made, for a campaign that begins at a moment; undefined: some
 * mail can. By own clocks each recipient has their own hours.
 */
export function hoursToCome(
  { local_zone: zone, ...pace }: Pick<Broadcast, 'rate' | 'send_window' | 'local_zone'>,
  at: number,
): number | undefined {
  const opens = opensFrom(paceOf(pace), at)
  return zone === null && opens > at + aheadMs ? opens : undefined
}

/**
 * When it begins and why not before, for the row of a campaign that waits for its hours: until then it is scheduled.
 */
export const untilHours = (opens: number): Pick<Broadcast, 'next_at' | 'reason'> => ({
  next_at: opens - aheadMs,
  reason: hoursReason(opens),
})

const hoursReason = (opens: number) =>
  `It waits for the hours in which it leaves: they begin at ${utcTime(opens)}`

/** When a scheduled campaign leaves (ms): at its time, or once its hours begin; null: it has no time. */
export function leavesFrom({
  next_at,
  scheduled_at,
  local_zone: zone,
  ...pace
}: Pick<Broadcast, 'next_at' | 'scheduled_at' | 'rate' | 'send_window' | 'local_zone'>):
  | number
  | null {
  if (zone !== null) return scheduled_at
  const at = next_at ?? scheduled_at
  return at === null ? null : opensFrom(paceOf(pace), at)
}

/** A request's pace in the form of a row. Throws a 400 for hours that never come. */
export function paceIn({
  rate,
  window,
  localTimeOf,
}: PaceInput): Pick<Broadcast, 'rate' | 'send_window' | 'local_zone'> {
  const hours = window === 'none' ? undefined : window
  if (hours && hours.from === hours.to) {
    const expected = 'another time than from'
    const message = `Expected ${expected}`
    const path = ['window', 'to']
    throw new ShapeError([{ code: 'invalid', expected, received: 'string', path, message }])
  }
  return {
    rate: rate === 'none' ? null : (rate ?? null),
    send_window: hours === undefined ? null : JSON.stringify(hours),
    local_zone: localTimeOf || null,
  }
}

interface PaceInput {
  rate?: number | 'none' | undefined
  window?: SendWindow | 'none' | undefined
  localTimeOf?: string | undefined
}

/** A 400: a campaign by everybody's own clock needs a time. */
export const withoutTime = () =>
  new ApiError(
    'validation_error',
    'A campaign that goes by the clock of each recipient (localTimeOf) needs the time that their clocks show when they get it (scheduledAt)',
    {
      slips: [
        {
          field: 'scheduledAt',
          says: 'A campaign that goes by the clock of each recipient needs the time that their clocks show when they get it',
        },
      ],
    },
  )

/** How many mails of a campaign may be made in a turn. */
export interface PacedTurn {
  most: number
  /** When the nth mail of the turn may leave, from 0 on (ms). */
  leavesAt(n: number): number
  /** When the mail after so many may leave; null: there is no rate. */
  pacedTo(made: number): number | null
  /** Where nothing may be made: when to look again, and what it waits for. */
  waits?: Waiting
}

/** What a sending campaign waits for. */
export interface Waiting {
  nextAt: number
  reason: string | null
}

/** How many mails of a campaign with hours may wait to leave; more, if more have left in the last minute. */
const leastWaiting = 500

/**
 * How many mails of a campaign may be made now: all, or as many as may leave within `aheadMs` by its rate, or within
 * its hours. If the clock was set back it goes on from now. `perMinute`: how many of its mails leave.
 */
export function turnOf(broadcast: Broadcast, now: number, perMinute: number): PacedTurn {
  const { rate, window } = paceOf(broadcast)
  const open = window && openWindow(window, window.zone, now)
  const opens = open?.opens ?? now
  if (open && opens > now + aheadMs) {
    return nothing({ nextAt: opens - aheadMs, reason: hoursReason(opens) })
  }
  const until = Math.min(now + aheadMs, open?.closes ?? Number.POSITIVE_INFINITY)
  if (rate === null) {
    const room = window ? Math.max(leastWaiting, perMinute) - broadcast.waiting : Infinity
    return {
      most: Math.max(0, room),
      leavesAt: () => opens,
      pacedTo: () => null,
    }
  }
  const stepMs = hourMs / rate
  const before = broadcast.paced_to ?? 0
  const isSetBack = (broadcast.expanded_at ?? 0) > now + aheadMs
  const first = Math.max(isSetBack ? 0 : before, opens)
  // Whole milliseconds, as times are stored; a step may be a fraction.
  const leavesAt = (n: number) => Math.round(first + n * stepMs)
  const most = first >= until ? 0 : Math.ceil((until - first) / stepMs)
  if (most > 0) return { most, leavesAt, pacedTo: leavesAt }
  // Half of the time ahead, so that the next mails exist before the last ones have left.
  return nothing({ nextAt: Math.max(now + 1_000, first - aheadMs / 2), reason: null })
}

const nothing = (waits: Waiting): PacedTurn => ({
  most: 0,
  leavesAt: () => waits.nextAt,
  pacedTo: () => null,
  waits,
})

/**
 * Stores when a sending campaign goes on, and why not before; not where somebody has stopped or changed it meanwhile.
 */
export async function keepWaiting(
  { store, now }: { store: Pick<Store, 'write'>; now: number },
  { id, expanded_at }: Broadcast,
  { nextAt, reason }: Waiting,
): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ next_at: nextAt, reason, expanded_at: now })
      .where('id', '=', id)
      .where('status', '=', 'sending')
      .where('expanded_at', '=', expanded_at)
      .execute(),
  )
}

// With few hours a day, this is further than anybody looks ahead.
const mostWindows = 400

/** The mails that leave during one opening of a campaign's hours. */
interface Opening {
  /** How many had left before it. */
  before: number
  first: number
  mails: number
  closes: number
}

/** When the nth mail leaves, from 0 on, and when so many have left (ms); undefined: not within a year. */
export interface LeavingTimes {
  leavesAt(n: number): number | undefined
  haveLeft(people: number): number | undefined
}

/**
 * When mails leave at a rate from `start` on (ms), with hours in which none may, as `turnOf` allows them: evenly from
 * the start of each opening. Mails for which an opening had no room begin the next one.
 */
export function leavingTimes(
  start: number,
  { rate, window }: { rate: number; window: SendWindow | null },
): LeavingTimes {
  const stepMs = hourMs / rate
  const openings: Opening[] = []
  const openNext = (): Opening => {
    const last = openings.at(-1)
    if (window === null) return { before: 0, first: start, mails: Infinity, closes: Infinity }
    const end = last === undefined ? start : Math.round(last.first + last.mails * stepMs)
    const { opens, closes } = openWindow(window, window.zone, Math.max(end, last?.closes ?? end))
    // In floating point, a whole number of steps may come out a little larger.
    const mails = Math.max(1, Math.ceil((closes - opens) / stepMs - 1e-6))
    return {
      before: last === undefined ? 0 : last.before + last.mails,
      first: opens,
      mails,
      closes,
    }
  }
  const openingOf = (n: number) => {
    for (let last = openings.at(-1); last === undefined || last.before + last.mails <= n; ) {
      if (openings.length >= mostWindows) return undefined
      last = openNext()
      openings.push(last)
    }
    return openings.findLast(({ before }) => before <= n)
  }
  const at = (n: number, { before, first }: Opening) => first + (n - before) * stepMs
  return {
    leavesAt(n) {
      const opening = openingOf(n)
      return opening && Math.round(at(n, opening))
    },
    haveLeft(people) {
      const opening = openingOf(Math.max(0, people - 1))
      return opening && Math.round(Math.min(opening.closes, at(people, opening)))
    },
  }
}

/** When so many mails have left at a rate (ms), with hours in which none may; undefined: not within a year. */
export const lastLeavesAt = (
  start: number,
  { people, rate, window }: { people: number; rate: number; window: SendWindow | null },
): number | undefined => leavingTimes(start, { rate, window }).haveLeft(people)
