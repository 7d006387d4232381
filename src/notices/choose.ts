import { dayMs, isRecent } from '../clock/index.js'
import type { NoticeKind } from './notice.js'
import type { NoticeMailRead, NoticeRowRead } from './read.js'

/** The settings of `[operator]` that say what is mailed, and how often. */
export interface TellSettings {
  /** Kinds of which nothing is mailed. */
  silence: readonly string[]
  /** One thing is told at once at most so often. */
  againAfterMs: number
  /** Mails at once in any 24 hours. */
  burningPerDay: number
  /** The zone in which days begin and end. */
  zone: string
}

/** A mail that has left, as far as limits count it. */
type MailSent = Pick<NoticeMailRead, 'kind' | 'at'>

// What customers bring about, by their mail or their zones, as often as they like.
const ofCustomers: readonly string[] = [
  ...(['account-paused', 'account-warned', 'domain-record', 'webhook'] as const),
] satisfies NoticeKind[]

// Mail at once waits for so long, so that what burns together is one mail.
const groupMs = 60_000
/** What stays as it was is named again so often, where nothing else makes a mail. */
const remindMs = 7 * dayMs

/** What is to be mailed at once, now; empty while others may follow within a minute, or too many have left. */
export function chooseBurning(
  open: readonly NoticeRowRead[],
  mails: readonly MailSent[],
  settings: TellSettings,
  now: number,
): NoticeRowRead[] {
  const due = open.filter(
    (row) =>
      row.urgent === 1 &&
      !isSilent(row, settings, now) &&
      (row.urgent_at === null || !isRecent(row.urgent_at, now, settings.againAfterMs)),
  )
  // None that waits for others any longer, or nothing at all.
  if (due.every(({ staged_at: at }) => isRecent(at, now, groupMs))) return []
  const isOwn = due.some(({ kind }) => !ofCustomers.includes(kind))
  // Half of the mails is for what is the appliance's own: no customer uses them up and hides a full disk.
  const kept = isOwn ? 0 : Math.ceil(settings.burningPerDay / 2)
  return leftToday(mails, settings, now) > kept ? due : []
}

/** How many more may leave at once. */
export const leftToday = (
  mails: readonly MailSent[],
  { burningPerDay }: TellSettings,
  now: number,
): number =>
  burningPerDay -
  mails.filter(({ kind, at }) => kind === 'burning' && isRecent(at, now, dayMs)).length

/** The mail of the day, in its parts. */
export interface Daily {
  burning: NoticeRowRead[]
  fresh: NoticeRowRead[]
  still: NoticeRowRead[]
  settled: NoticeRowRead[]
}

/** Undefined where there is nothing to say today. */
export function chooseDaily(
  rows: readonly NoticeRowRead[],
  settings: TellSettings,
  now: number,
): Daily | undefined {
  const heard = rows.filter((row) => !isSilent(row, settings, now))
  const open = heard.filter(({ state }) => state === 'open')
  const daily = open.filter(({ severity }) => severity === 'daily')
  const all: Daily = {
    burning: open.filter(({ severity }) => severity === 'burning'),
    fresh: daily.filter(({ fresh }) => fresh === 1),
    still: daily.filter(({ fresh }) => fresh === 0),
    // What came and went without being told is in the history; what burned is told in any case.
    settled: heard.filter(
      ({ state, severity, told_at: told }) =>
        state === 'settled' && (told !== null || severity === 'burning'),
    ),
  }
  const overdue = all.still.some(({ told_at: at }) => !isRecent(at ?? 0, now, remindMs))
  const says = all.burning.length + all.fresh.length + all.settled.length > 0 || overdue
  return says ? all : undefined
}

/** Whether the operator does not want to hear of it now. */
const isSilent = (
  { kind, silenced_until: until }: Pick<NoticeRowRead, 'kind' | 'silenced_until'>,
  { silence }: Pick<TellSettings, 'silence'>,
  now: number,
): boolean => silence.includes(kind) || (until !== null && now < until)

/** The day of a time where the operator is: `2026-11-21`. */
export const dayIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at)
