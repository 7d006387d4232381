import { dayMs, isRecent } from '../clock/index.js'
import type { NoticeKind } from './notice.js'
import type { NoticeMailRead, NoticeRowRead } from './read.js'

/** The settings of `[operator]` that say what is mailed, and how often. */
export interface TellSettings {
  /** Kinds that are never mailed. */
  silence: readonly string[]
  /** How soon the same thing may be told at once again. */
  againAfterMs: number
  /** The most urgent mails in any 24 hours. */
  burningPerDay: number
  /** The zone in which days begin and end. */
  zone: string
}

/** A mail that has left, as far as limits count it. */
type MailSent = Pick<NoticeMailRead, 'kind' | 'at'>

// Notices that customers can cause as often as they like, by their mail or their zones.
const ofCustomers: readonly string[] = [
  ...(['account-paused', 'account-warned', 'domain-record', 'webhook'] as const),
] satisfies NoticeKind[]

// How long an urgent mail waits, so that notices that come together share a mail.
const groupMs = 60_000
/** How often an unchanged notice is named again if nothing else causes a mail. */
const remindMs = 7 * dayMs

/**
 * The notices to mail at once now; empty while others may follow within a minute, or if too many mails have
 * left.
 */
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
  // No notice has waited long enough for others, or there is none.
  if (due.every(({ staged_at: at }) => isRecent(at, now, groupMs))) return []
  const isOwn = due.some(({ kind }) => !ofCustomers.includes(kind))
  // Half of the mails is reserved for the appliance's own troubles: no customer can use them up and hide
  // a full disk.
  const kept = isOwn ? 0 : Math.ceil(settings.burningPerDay / 2)
  return leftToday(mails, settings, now) > kept ? due : []
}

/** How many more urgent mails may leave. */
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

/** Undefined if there is nothing to tell today. */
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
    // Notices that came and went untold are only in the history; urgent ones are told in any case.
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

/** The day of a time in the operator's zone: `2026-11-21`. */
export const dayIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at)
