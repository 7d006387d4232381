import { sql } from 'kysely'
import { counted } from '../amounts/index.js'
import { dayMs, hourMs, isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { prepared, preparedInsertAll, type Read, type Tx } from '../store/index.js'
import type { AccountBilling } from './billing.js'

const minuteMs = 60_000

/** The key that hands mail in, and from where; a person in the dashboard and a form have none. */
export interface HandingKey {
  keyId: string
  perHour: number | null
  perMinute: number | null
  /** Empty where it cannot be told any more. */
  address: () => string
}

/** Mails that are handed in together, all or none. */
export interface HandingIn {
  billing: AccountBilling
  mails: number
  now: number
  /** Whether a refusal is told as that of a batch. */
  isBatch: boolean
  by?: HandingKey | undefined
}

/** What an account has handed in within a clock hour, these mails among it. */
export interface HourOfAccount {
  mails: number
  /** As the row has it before anything is added; see `surges/`. */
  fresh: number | null
}

/** A clock hour or minute of an account or a key. */
interface Span {
  holder: string
  span: number
  at: number
  /** Null: any number. */
  limit: number | null
  /** Whose limit it is. */
  of: 'plan' | 'key'
  /** What is added now. */
  added: number
  /** What was there before, and what has passed since. */
  used: number
  fresh: number | null
}

/** What was counted, to be taken back where something else refuses the mails. */
export interface HandedInCount<One = unknown> {
  refusals: ReadonlyMap<One, ApiError>
  /** By account. Of several hours the last one. */
  hours: ReadonlyMap<string, HourOfAccount>
  takeBack(tx: Tx, refused: readonly One[]): Promise<void>
}

/**
 * Counts what several requests hand in within the present hour and minute, of the account and of each key that has a
 * limit; resolves with the refusals of those that are too many, of which nothing is counted. Where nobody has a limit that is one
 * row an account.
 */
export async function countHandedIn<One extends HandingIn>(
  tx: Tx,
  counts: readonly One[],
): Promise<HandedInCount<One>> {
  const known = new Map<string, Span>()
  const spansOf = new Map<One, Span[]>()
  for (const count of counts) {
    if (count.mails === 0) continue
    const spans = spansFor(count).map((span) => {
      const name = `${span.holder} ${span.span} ${span.at}`
      const found = known.get(name) ?? span
      known.set(name, found)
      found.added += count.mails
      return found
    })
    spansOf.set(count, spans)
  }
  // In one order everywhere, so that two writers of a server never wait for each other.
  const names = [...known.keys()].sort()
  const rows = await addMails(
    tx,
    names.flatMap((name) => {
      const span = known.get(name)
      if (span === undefined) return []
      return [{ holder: span.holder, span: span.span, at: span.at, mails: span.added }]
    }),
  )
  for (const { holder, span: lengthMs, at, mails, fresh } of rows) {
    const span = known.get(`${holder} ${lengthMs} ${at}`)
    if (span === undefined) continue
    span.used = mails - span.added
    span.fresh = fresh
  }
  const refusals = new Map<One, ApiError>()
  for (const [count, spans] of spansOf) {
    // What never fits comes first: for that nobody waits.
    const isBeyond = (limit: number | null, mails: number) => limit !== null && mails > limit
    const full =
      spans.find(({ limit }) => isBeyond(limit, count.mails)) ??
      spans.find(({ limit, used }) => isBeyond(limit, used + count.mails))
    if (full === undefined) for (const span of spans) span.used += count.mails
    else refusals.set(count, refusalOf(count, full, spans))
  }
  const takeBack = async (tx: Tx, refused: readonly One[]) => {
    for (const count of refused) {
      const spans = spansOf.get(count) ?? []
      if (spans.length === 0) continue
      await addMails(
        tx,
        spans.map(({ holder, span, at }) => ({ holder, span, at, mails: -count.mails })),
      )
    }
  }
  await takeBack(tx, [...refusals.keys()])
  const hours = new Map<string, HourOfAccount>()
  for (const { holder, span, used: mails, fresh, of } of known.values()) {
    if (of === 'plan' && span === hourMs) hours.set(holder, { mails, fresh })
  }
  return { refusals, hours, takeBack }
}

/** The account's hour is counted always: by it a surge is told from what is usual. */
function spansFor({ billing, now, by }: HandingIn): Span[] {
  const { accountId, plan } = billing
  const span = (of: Span['of'], holder: string, lengthMs: number, limit: number | null): Span => ({
    of,
    holder,
    limit,
    span: lengthMs,
    at: now - (now % lengthMs),
    added: 0,
    used: 0,
    fresh: null,
  })
  const spans = [span('plan', accountId, hourMs, plan.perHour)]
  if (plan.perMinute !== null) spans.push(span('plan', accountId, minuteMs, plan.perMinute))
  if (by === undefined) return spans
  if (by.perHour !== null) spans.push(span('key', by.keyId, hourMs, by.perHour))
  if (by.perMinute !== null) spans.push(span('key', by.keyId, minuteMs, by.perMinute))
  return spans
}

/**
 * One upsert of holder, span, time and mails for all of them, which answers with the new sums: no second look is needed, and a
 * key's limits cost a mail that comes alone no statement more. Of it RETURNING takes most: 10 µs a row with it and 4 without
 * (SQLite alone, 30 Nov 2026); a second statement that reads the sums takes as long.
 */
export const addMails = preparedInsertAll('handed_in', (insert) =>
  insert
    .onConflict((conflict) =>
      conflict
        .columns(['holder', 'span', 'at'])
        .doUpdateSet({ mails: sql`handed_in.mails + excluded.mails` }),
    )
    .returning(['holder', 'span', 'at', 'mails', 'fresh']),
)

const usualMs = 14 * 24 * hourMs
// A few hours are no habit: whoever has stolen a young account's key could send ten times as much each hour.
const leastHours = 24

/**
 * How many mails an hour of the account has on average, of those hours of the 14 days before that had any, and of 24 at
 * least; `isLeftOut`: an hour that says nothing about what is usual.
 */
export async function usualHour(
  read: Read,
  { accountId, hour }: { accountId: string; hour: number },
  isLeftOut: (from: number, to: number) => boolean,
): Promise<number> {
  const rows = await hoursBefore(read, { accountId, since: hour - usualMs, hour })
  const hours = rows.filter(({ at }) => !isLeftOut(at, at + hourMs))
  const sum = hours.reduce((all, { mails }) => all + mails, 0)
  return Math.round(sum / Math.max(hours.length, leastHours))
}

/** By the primary key, 336 rows at most. */
const hoursBefore = prepared<
  { accountId: string; since: number; hour: number },
  { at: number; mails: number }
>((db, { accountId, since, hour }) =>
  db
    .selectFrom('handed_in')
    .select(['at', 'mails'])
    .where('holder', '=', accountId)
    .where('span', '=', sql.lit(hourMs))
    .where('at', '>=', since)
    .where('at', '<', hour)
    .where('mails', '>', sql.lit(0)),
)

/** Notes how many mails of the account's hour went to whom it never mailed. */
export const setFresh = prepared<{ accountId: string; hour: number; fresh: number }, unknown>(
  (db, { accountId, hour, fresh }) =>
    db
      .updateTable('handed_in')
      .set({ fresh })
      .where('holder', '=', accountId)
      .where('span', '=', sql.lit(hourMs))
      .where('at', '=', hour),
)

// Some milliseconds of writing; what is left goes the next time.
const rowsForgotten = 1_000

/** Forgets the hours that no average needs any more, and the minutes that are over. */
export async function forgetHandedIn(tx: Tx, now: number): Promise<void> {
  for (const [span, before] of [
    [hourMs, now - usualMs - hourMs],
    [minuteMs, now - hourMs],
    // Of mail that comes in.
    [dayMs, now - 2 * dayMs],
  ] as const) {
    const old = tx
      .selectFrom('handed_in')
      .select(['holder', 'at'])
      .where('span', '=', span)
      .where('at', '<', before)
      .orderBy('at')
      .limit(rowsForgotten)
    await tx
      .deleteFrom('handed_in')
      .where('span', '=', span)
      .where(({ eb, refTuple }) => eb(refTuple('holder', 'at'), 'in', old.$asTuple('holder', 'at')))
      .execute()
  }
}

/** Says whose limit it is and when it ends, so that a client knows how long to wait. */
function refusalOf(
  { billing, mails, now, isBatch }: HandingIn,
  full: Span,
  spans: readonly Span[],
) {
  const { limit, used, of, span, at } = full
  const most = limit ?? 0
  const per = span === hourMs ? 'hour' : 'minute'
  const resetsAt = isoTime(at + span)
  const whose = of === 'key' ? 'this key may hand in' : `the plan ${billing.plan.name} allows`
  const within = per === 'hour' ? 'an hour' : 'a minute'
  // However long somebody waits, so many never fit: no program should try that again.
  if (mails > most) {
    const told = `These are ${counted(mails, 'mail')} at once, and ${whose} ${most} within ${within}: hand in fewer at once`
    return new ApiError('validation_error', told, { status: 422, fields: { limit: most, per, of } })
  }
  const told = `${used} of the ${most} mails that ${whose} within ${within} are used; the count starts again at ${resetsAt}`
  // In whole seconds, never less than one.
  const waitS = Math.max(1, Math.ceil((at + span - now) / 1_000))
  const headers = { 'retry-after': String(waitS) }
  const known = { limit: most, used, per, of, resetsAt }
  if (!isBatch) {
    return new ApiError('rate_limit_exceeded', told, { fields: known, headers })
  }
  const left = spans.flatMap((one) => (one.limit === null ? [] : [one.limit - one.used]))
  const canSend = Math.max(0, Math.min(...left))
  const what = `The batch has ${counted(mails, 'mail')} (one for each recipient), and ${canSend} can be sent now`
  return new ApiError('rate_limit_exceeded', `${what}. ${told}`, {
    fields: { ...known, canSend },
    headers,
  })
}
