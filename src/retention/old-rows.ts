import { sql } from 'kysely'
import { dayMs, isoDay } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { idsIn, type Read, type Tx } from '../store/index.js'
import { inSlices, type RetentionDeps, rest } from './slices.js'

/** `[retention]`: in ms, Infinity for 'forever'. */
export type Ages = Config['retention']

/** A table whose rows go at one age, the oldest first. */
interface OldTable {
  /** In words, for the operator. */
  what: string
  age(ages: Ages): number
  /** Some of the oldest rows before `until`, by an index or the primary key. */
  oldest(read: Read, until: number): Promise<{ id: number; bytes: number }[]>
  remove(tx: Tx, ids: readonly number[]): Promise<unknown>
}

// A page: a read of it takes about a millisecond.
const rowsARead = 200

const oldTables: readonly OldTable[] = [
  {
    what: 'sessions of submission',
    age: ({ sessions }) => sessions,
    oldest: async (read, until) => {
      const rows = await oldestSessions(read).execute()
      return before(rows, until).map(({ id }) => ({ id, bytes: 2_000 }))
    },
    remove: (tx, ids) =>
      tx.deleteFrom('submission_sessions').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: "the operator's mails",
    age: ({ inbound }) => inbound,
    oldest: async (read, until) => {
      const rows = await oldestOperatorMails(read).execute()
      return before(rows, until).map(({ id, bytes }) => ({ id, bytes }))
    },
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
    oldest: async (read, until) => {
      const rows = await oldestConsent(read).execute()
      return before(rows, until).map(({ id }) => ({ id, bytes: 300 }))
    },
    remove: (tx, ids) =>
      tx.deleteFrom('consent').where('id', 'in', idsIn(ids, 'integer')).execute(),
  },
  {
    what: 'rows of the audit log',
    age: ({ audit }) => audit,
    oldest: async (read, until) => {
      const rows = await oldestAudit(read).execute()
      return before(rows, until).map(({ id }) => ({ id, bytes: 300 }))
    },
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
  for (const { what, age, oldest, remove } of oldTables) {
    const until = now - age(ages)
    // Kept forever.
    if (until === Number.NEGATIVE_INFINITY) continue
    for (let last = -1; !signal.aborted; ) {
      const rows = await oldest(deps.store.read, until)
      const first = rows.at(0)
      // The same row comes first again: it cannot be deleted, which `inSlices` has logged.
      if (first === undefined || first.id === last) break
      last = first.id
      const pieces = rows.map(({ id, bytes }) => ({ item: id, bytes }))
      await inSlices(deps, pieces, async (tx, id) => void (await remove(tx, [id])), signal)
      gone.set(what, (gone.get(what) ?? 0) + rows.length)
      if (rows.length < rowsARead) break
    }
  }
  return gone
}

/** The first rows, as far as all of them are old. */
function before<R extends { at: number }>(rows: readonly R[], until: number): R[] {
  const young = rows.findIndex(({ at }) => at >= until)
  return young === -1 ? [...rows] : rows.slice(0, young)
}

/** Ids rise with time, so the oldest come first by the primary key. */
const oldestSessions = (read: Read) =>
  read
    .selectFrom('submission_sessions')
    .select(['id', 'ended_at as at'])
    .orderBy('id')
    .limit(rowsARead)

/** The oldest rows of the audit log, by its primary key too. */
const oldestAudit = (read: Read) =>
  read.selectFrom('audit_log').select(['id', 'at']).orderBy('id').limit(rowsARead)

/** The oldest mails to the operator, by their primary key too, with their size. */
const oldestOperatorMails = (read: Read) =>
  read
    .selectFrom('operator_mails')
    .select(['id', 'received_at as at', 'size_bytes as bytes'])
    .orderBy('id')
    .limit(rowsARead)

/** By the index of parked reports, which has those alone. */
const parkedBefore = (read: Read, until: number) =>
  read
    .selectFrom('inbound_spool')
    .select('id')
    .select(sql<number>`octet_length(raw)`.as('bytes'))
    .where('parked_at', 'is not', null)
    .where('parked_at', '<', until)
    .orderBy('parked_at')
    .limit(rowsARead)

/** Leaves the newest rows, and those that the figures have not counted. */
const oldestConsent = (read: Read) =>
  read
    .selectFrom('consent')
    .select(['id', 'at'])
    .where('id', '<', (eb) => eb.selectFrom('figure_cursors').select('consent_id'))
    .orderBy('id')
    .limit(rowsARead)

/** By the time at which each may be forgotten. */
const pastBefore = (read: Read, until: number) =>
  read
    .selectFrom('past_deliveries')
    .select(['id', sql<number>`100`.as('bytes')])
    .where('forget_at', '<=', until)
    .orderBy('forget_at')
    .limit(rowsARead)

// The kinds of figures that are deleted by the day.
const breakdowns = ['broadcast', 'provider', 'tag'] as const

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

/** A month's period is `2026-11`, a day's `2026-11-21`. */
export const usageDays = (read: Read, accountId: string, before: string) =>
  read
    .selectFrom('usage')
    .select('period')
    .where('account_id', '=', accountId)
    .where('period', '<', before)
    .where(sql<boolean>`length(period) = 10`)
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
