import { sql } from 'kysely'
import { dayNumber, hourMs } from '../clock/index.js'
import {
  greatest,
  type ProtectionHourRow,
  type ProtectionTotals,
  prepared,
  type Read,
  type Tx,
} from '../store/index.js'

/*
 * A window slides by the hour. Its totals are kept, so an event costs a few rows by their key. Only
 * the first event of an hour sums them up again from the account's hours, at most `window` of them,
 * and deletes older hours.
 */
export type Totals = ProtectionTotals

/** What an event adds to its account's counts. */
export interface Counted {
  accountId: string
  at: number
  /** Undefined: the event is about the mail as a whole. */
  provider: string | undefined
  recipients: 0 | 1
  bounces: 0 | 1
  complaints: 0 | 1
  /** Unproved complaints, which are shown but count in no rate. */
  unproved: 0 | 1
  marketing: boolean
  /** For a bounce or complaint after the recipient was counted: the time of that count, or null if unknown. */
  countedAt: number | null | undefined
  /** For a proved complaint: the host that took the mail, and the recipient's domain. */
  complainedOf?: { host: string; domain: string } | undefined
}

/** Hours since 1970. */
export const hourOf = (at: number) => Math.floor(at / hourMs)
/** The columns that count. */
export const counters = [
  'recipients',
  'bounces',
  'complaints',
  'marketing_recipients',
  'marketing_bounces',
  'marketing_complaints',
  'unproved',
] as const

/** Nothing counted yet. */
export const noTotals = (): Totals => ({
  recipients: 0,
  bounces: 0,
  complaints: 0,
  marketing_recipients: 0,
  marketing_bounces: 0,
  marketing_complaints: 0,
  unproved: 0,
})

/** Adds to `totals` in place. */
export function addTo(totals: Totals, added: Partial<Totals>): void {
  for (const counter of counters) totals[counter] += added[counter] ?? 0
}

/** The totals of the window that ends with the hour of `at`. */
export async function sumWindow(
  read: Read,
  accountId: string,
  { at, windowMs }: { at: number; windowMs: number },
): Promise<Totals> {
  const hour = hourOf(at)
  const [row] = await sumOf(read, { accountId, after: hour - hoursOf(windowMs) })
  return row ?? noTotals()
}

/** How many hours a window has; a begun last hour counts whole. */
export const hoursOf = (windowMs: number) => Math.ceil(windowMs / hourMs)

/** An account's counts by hour of the window, the oldest first; hours without any are left out. */
export async function readHours(
  read: Read,
  accountId: string,
  { at, windowMs }: { at: number; windowMs: number },
): Promise<({ at: number } & Totals)[]> {
  const rows = await read
    .selectFrom('protection_hours')
    .select(['hour', ...counters])
    .where('account_id', '=', accountId)
    .where('hour', '>', hourOf(at) - hoursOf(windowMs))
    .orderBy('hour')
    .execute()
  return rows.map(({ hour, ...totals }) => ({ at: hour * hourMs, ...totals }))
}

/** By the primary key: a row an hour. */
const sumOf = prepared<{ accountId: string; after: number }, Totals>((db, { accountId, after }) =>
  db
    .selectFrom('protection_hours')
    .select(({ fn }) =>
      counters.map((counter) => fn.coalesce(fn.sum<number>(counter), sql.lit(0)).as(counter)),
    )
    .where('account_id', '=', accountId)
    .where('hour', '>', after),
)

/** Deletes the account's hours and days of providers that are outside of the window. */
export async function forgetOld(
  tx: Tx,
  accountId: string,
  { at, windowMs }: { at: number; windowMs: number },
): Promise<void> {
  await tx
    .deleteFrom('protection_hours')
    .where('account_id', '=', accountId)
    .where('hour', '<=', hourOf(at) - hoursOf(windowMs))
    .execute()
  await tx
    .deleteFrom('protection_providers')
    .where('account_id', '=', accountId)
    .where('day', '<=', dayNumber(at - windowMs))
    .execute()
}

// All tables with data of an account here, except for the audit log.
const tables = [
  'protection',
  'protection_hours',
  'protection_providers',
  'protection_addresses',
] as const

/** Deletes the account's counts, which start again at 0. */
export async function forgetAll(tx: Tx, accountId: string): Promise<void> {
  for (const table of tables) {
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute()
  }
}

/**
 * Deletes old hours of some accounts that no longer mail, and returns how many; active accounts delete their own.
 */
export async function forgetIdle(
  tx: Tx,
  { now, windowMs }: { now: number; windowMs: number },
): Promise<number> {
  const idle = await tx
    .selectFrom('protection')
    .select('account_id')
    .where('hour', '<=', hourOf(now) - hoursOf(windowMs))
    // A write then takes some milliseconds.
    .limit(100)
    .execute()
  for (const { account_id: accountId } of idle) await forgetAll(tx, accountId)
  return idle.length
}

/**
 * Takes a recipient out of the hour of its first count, as a report counts the recipient again in its own hour. So
 * no hour and no window has more bounces or complaints than recipients. Returns whether that hour still exists and
 * has a recipient to give.
 */
export async function takeFromHour(
  tx: Tx,
  accountId: string,
  { countedAt, marketing }: { countedAt: number; marketing: boolean },
): Promise<boolean> {
  const values = { accountId, hour: hourOf(countedAt) }
  const { length } = await (marketing ? takeMarketing(tx, values) : takeOther(tx, values))
  return length > 0
}

const taking = (marketing: 0 | 1) =>
  prepared<{ accountId: string; hour: number }, { hour: number }>((db, { accountId, hour }) =>
    db
      .updateTable('protection_hours')
      .set({
        recipients: sql`recipients - 1`,
        marketing_recipients: sql`marketing_recipients - ${sql.lit(marketing)}`,
      })
      .where('account_id', '=', accountId)
      .where('hour', '=', hour)
      .where('recipients', '>', greatest(sql.ref('bounces'), sql.ref('complaints')))
      .where(
        sql<number>`marketing_recipients - ${sql.lit(marketing)}`,
        '>=',
        greatest(sql.ref('marketing_bounces'), sql.ref('marketing_complaints')),
      )
      // Transactional recipients must stay covered too.
      .where(
        sql<number>`recipients - marketing_recipients - ${sql.lit(1 - marketing)}`,
        '>=',
        greatest(sql`bounces - marketing_bounces`, sql`complaints - marketing_complaints`),
      )
      .returning('hour'),
  )

const takeMarketing = taking(1)
const takeOther = taking(0)

/** Adds to the counts of an hour, or creates its row. */
export const addToHour = prepared<ProtectionHourRow, unknown>((db, values) => {
  const { account_id, hour } = values
  const counted = Object.fromEntries(counters.map((counter) => [counter, values[counter]]))
  return db
    .insertInto('protection_hours')
    .values({ account_id, hour, ...(counted as unknown as Totals) })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'hour'])
        .doUpdateSet(
          Object.fromEntries(
            counters.map((counter) => [
              counter,
              sql`${sql.ref(`protection_hours.${counter}`)} + ${sql.ref(`excluded.${counter}`)}`,
            ]),
          ),
        ),
    )
})
