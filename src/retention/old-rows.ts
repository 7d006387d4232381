import { sql } from 'kysely'
import { dayMs, isoDay } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { makeWrittenBy } from '../events/index.js'
import { idsIn, type Read, type Tx } from '../store/index.js'
import { inSlices, type RetentionDeps, rest } from './slices.js'

/** `[retention]`: in ms, Infinity for 'forever'. */
export type Ages = Config['retention']

/** A table whose rows are deleted at one age, the oldest first. */
interface OldTable {
  /** In words, for the operator. */
  what: string
  age(ages: Ages): number
  /** Some of the oldest rows before `until`, by an index of their times. */
  oldest?(read: Read, until: number): Promise<{ id: number; bytes: number }[]>
  /** The rows after an id, which rises with time. */
  after?(
    read: Read,
    id: number,
    limit: number,
  ): Promise<{ id: number; at: number; bytes: number }[]>
  remove(tx: Tx, ids: readonly number[]): Promise<unknown>
}

// A page: a read of it takes about a millisecond.
const rowsARead = 200

const oldTables: readonly OldTable[] = [
  {
    what: 'sessions of submission',
    age: ({ sessions }) => sessions,
    after: (read, id, limit) => sessionsAfter(read, id, limit),
    remove: (tx, ids) =>
      tx.deleteFrom('submission_sessions').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: "the operator's mails",
    age: ({ inbound }) => inbound,
    after: (read, id, limit) => operatorMailsAfter(read, id, limit),
    remove: (tx, ids) =>
      tx.deleteFrom('operator_mails').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: 'parked reports',
    age: ({ inbound }) => inbound,
    oldest: (read, until) => parkedBefore(read, until).execute(),
    remove: (tx, ids) =>
      tx
        .deleteFrom('inbound_spool')
        .where('id', 'in', idsIn(ids, 'integer'))
        .where('parked_at', 'is not', null)
        .execute(),
  },
  {
    what: 'records of consent',
    age: ({ consent }) => consent,
    after: (read, id, limit) => consentAfter(read, id, limit),
    remove: (tx, ids) =>
      tx.deleteFrom('consent').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: 'rows of the audit log',
    age: ({ audit }) => audit,
    after: (read, id, limit) => auditAfter(read, id, limit),
    remove: (tx, ids) =>
      tx.deleteFrom('audit_log').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: 'deleted mails of which no report comes any more',
    age: () => 0,
    oldest: (read, until) => pastBefore(read, until).execute(),
    remove: (tx, ids) =>
      tx.deleteFrom('past_deliveries').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
]

/** Deletes the rows of these tables that are too old; resolves with how many of each. */
export async function forgetOldRows(
  deps: RetentionDeps,
  ages: Ages,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<Map<string, number>> {
  const gone = new Map<string, number>()
  const { read } = deps.store
  for (const { what, age, oldest, after, remove } of oldTables) {
    const until = now - age(ages)
    // Kept forever.
    if (until === Number.NEGATIVE_INFINITY) continue
    const writtenBy = makeWrittenBy(async (id, limit) => (await after?.(read, id, limit)) ?? [])
    const next = async (last: number) => {
      if (after === undefined) return (await oldest?.(read, until)) ?? []
      const rows = await after(read, last, rowsARead)
      const young = (await writtenBy(rows, now)).findIndex((at) => at >= until)
      return young === -1 ? rows : rows.slice(0, young)
    }
    for (let last = -1; !signal.aborted; ) {
      const rows = await next(last)
      const first = rows.at(0)
      // The same row comes first again: it could not be deleted, which `inSlices` has logged.
      if (first === undefined || first.id === last) break
      last = after === undefined ? first.id : (rows.at(-1)?.id ?? last)
      const pieces = rows.map(({ id, bytes }) => ({ item: id, bytes }))
      await inSlices(deps, pieces, async (tx, id) => void (await remove(tx, [id])), signal, 'byRow')
      gone.set(what, (gone.get(what) ?? 0) + rows.length)
      if (rows.length < rowsARead) break
    }
  }
  return gone
}

/** Ids rise with time, so the oldest come first by the primary key. */
const sessionsAfter = (read: Read, id: number, limit: number) =>
  read
    .selectFrom('submission_sessions')
    .select(['id', 'ended_at as at', sql<number>`2000`.as('bytes')])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()

/** The oldest rows of the audit log, by its primary key too. */
const auditAfter = (read: Read, id: number, limit: number) =>
  read
    .selectFrom('audit_log')
    .select(['id', 'at', sql<number>`300`.as('bytes')])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()

/** The oldest mails to the operator, by their primary key too, with their size. */
const operatorMailsAfter = (read: Read, id: number, limit: number) =>
  read
    .selectFrom('operator_mails')
    .select(['id', 'received_at as at', 'size_bytes as bytes'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()

/** By the index of parked reports, which has only these. */
const parkedBefore = (read: Read, until: number) =>
  read
    .selectFrom('inbound_spool')
    .select('id')
    .select(sql<number>`octet_length(raw)`.as('bytes'))
    .where('parked_at', 'is not', null)
    .where('parked_at', '<', until)
    .orderBy('parked_at')
    .limit(rowsARead)

/** Leaves out the newest rows, and those that the figures have not counted. */
const consentAfter = (read: Read, id: number, limit: number) =>
  read
    .selectFrom('consent')
    .select(['id', 'at', sql<number>`300`.as('bytes')])
    .where('id', '>', id)
    .where('id', '<', (eb) => eb.selectFrom('figure_cursors').select('consent_id'))
    .orderBy('id')
    .limit(limit)
    .execute()

/** By the time at which each may be forgotten. */
const pastBefore = (read: Read, until: number) =>
  read
    .selectFrom('past_deliveries')
    .select(['id', sql<number>`100`.as('bytes')])
    .where('forget_at', '<=', until)
    .orderBy('forget_at')
    .limit(rowsARead)

// The kinds of figures that are deleted by the day.
const breakdowns = ['broadcast', 'provider', 'tag', 'test', 'campaign-test'] as const

/** Deletes an account's counters and figures of days that are too old; totals of months stay. */
export async function forgetDays(
  { store, clock }: RetentionDeps,
  ages: Ages,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const accounts = await store.read.selectFrom('accounts').select('id').execute()
  let gone = 0
  const firstDay = Math.floor((now - ages.figures) / dayMs)
  const firstPeriod = Number.isFinite(ages.usageDays) ? isoDay(now - ages.usageDays) : ''
  for (const { id } of accounts) {
    for (let more = true; more && !signal.aborted; ) {
      const days = await usageDays(store.read, id, firstPeriod).execute()
      const figures = await oldFigures(store.read, id, firstDay)
      more = days.length + figures.length > 0
      if (!more) break
      const began = clock.now()
      gone += await store.write(async (tx) => {
        const periods = days.map(({ period }) => period)
        await tx
          .deleteFrom('usage')
          .where('account_id', '=', id)
          .where('period', 'in', idsIn(periods, 'text'))
          .execute()
        for (const { breakdown, day } of figures) {
          await tx
            .deleteFrom('figures')
            .where('account_id', '=', id)
            .where('breakdown', '=', breakdown)
            .where('day', '=', day)
            .execute()
        }
        return days.length + figures.length
      })
      await rest(clock, clock.now() - began, signal)
    }
  }
  return gone
}

/** A month's period is `2026-11`, a day's `2026-11-21`, and of test mail `2026-11-21 test`. */
export const usageDays = (read: Read, accountId: string, before: string) =>
  read
    .selectFrom('usage')
    .select('period')
    .where('account_id', '=', accountId)
    .where('period', '<', before)
    .where(sql<boolean>`length(period) in (10, 15)`)
    .limit(rowsARead)

/** The oldest day of each kind that is too old; a day has some hundred rows at most. */
async function oldFigures(read: Read, accountId: string, firstDay: number) {
  const found: { breakdown: (typeof breakdowns)[number]; day: number }[] = []
  if (!Number.isFinite(firstDay)) return found
  for (const breakdown of breakdowns) {
    const row = await read
      .selectFrom('figures')
      .select('day')
      .where('account_id', '=', accountId)
      .where('breakdown', '=', breakdown)
      .where('day', '<', firstDay)
      .orderBy('day')
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) found.push({ breakdown, day: row.day })
  }
  return found
}
