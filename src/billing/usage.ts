import { sql } from 'kysely'
import { dayMs, dayNumber, hourMs, isoDay } from '../clock/index.js'
import { prepared, type Read, type Tx } from '../store/index.js'

/** Mails, one a recipient, in the present UTC month and day. */
export interface Usage {
  monthMails: number
  dayMails: number
  monthCampaignMails: number
}

/** The counters of an account's present month and day. */
export async function readUsage(read: Read, accountId: string, now: number): Promise<Usage> {
  const { month, day } = periodsAt(now)
  const rows = await read
    .selectFrom('usage')
    .select(['period', 'mails', 'campaign_mails'])
    .where('account_id', '=', accountId)
    .where('period', 'in', [month, day])
    .execute()
  return usageOf(rows, month, day)
}

/** The counters of some accounts' present month and day, for a list. */
export async function readUsages(
  read: Read,
  accountIds: readonly string[],
  now: number,
): Promise<Map<string, Usage>> {
  const { month, day } = periodsAt(now)
  const rows = await read
    .selectFrom('usage')
    .select(['account_id', 'period', 'mails', 'campaign_mails'])
    .where('account_id', 'in', accountIds)
    .where('period', 'in', [month, day])
    .execute()
  const of = (id: string) => rows.filter(({ account_id }) => account_id === id)
  return new Map(accountIds.map((id) => [id, usageOf(of(id), month, day)]))
}

/** Adds to the counters of the month and day, and tells what they are then. */
export async function addUsage(
  tx: Tx,
  accountId: string,
  now: number,
  added: { mails: number; campaignMails: number; isTest?: boolean | undefined },
): Promise<Usage> {
  const { mails, campaignMails, isTest } = added
  const { month, day } = periodsAt(now, isTest)
  const rows = await addToPeriods(tx, { accountId, month, day, mails, campaignMails })
  return usageOf(rows, month, day)
}

/** Month and day in one statement, which answers with the new sums, so that no second query is needed. */
const addToPeriods = prepared<
  { accountId: string; month: string; day: string; mails: number; campaignMails: number },
  PeriodRow
>((db, { accountId, month, day, mails, campaignMails }) => {
  const added = { account_id: accountId, mails, campaign_mails: campaignMails }
  return db
    .insertInto('usage')
    .values([
      { ...added, period: month },
      { ...added, period: day },
    ])
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'period']).doUpdateSet({
        mails: sql`usage.mails + excluded.mails`,
        campaign_mails: sql`usage.campaign_mails + excluded.campaign_mails`,
      }),
    )
    .returning(['period', 'mails', 'campaign_mails'])
})

/** Takes mails out of the periods in which they were counted; a counter never falls below 0. */
export async function subtractUsage(
  tx: Tx,
  accountId: string,
  counted: {
    /** When they were counted. */
    at: number
    mails: number
    of?: 'mails' | 'campaign_mails'
    isTest?: boolean | undefined
  },
): Promise<void> {
  const { mails, of: counter = 'mails' } = counted
  const { month, day } = periodsAt(counted.at, counted.isTest)
  await tx
    .updateTable('usage')
    .set((eb) => ({
      [counter]: eb
        .case()
        .when(counter, '>', mails)
        .then(eb(counter, '-', mails))
        .else(0)
        .end(),
    }))
    .where('account_id', '=', accountId)
    .where('period', 'in', [month, day])
    .execute()
}

/** `2026-11` and `2026-11-21`: how the rows of a UTC month and day are called; for test mail `2026-11 test`. */
function periodsAt(ms: number, isTest = false): { month: string; day: string } {
  const day = isoDay(ms)
  const suffix = isTest ? ' test' : ''
  return { month: day.slice(0, 7) + suffix, day: day + suffix }
}

/** When the UTC hour ends. */
export const hourEndsAt = (ms: number) => ms - (ms % hourMs) + hourMs

/** When the UTC day ends. */
export const dayEndsAt = (ms: number) => (dayNumber(ms) + 1) * dayMs

/** When the UTC month ends. */
export function monthEndsAt(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
}

/** A counter of one account and period. */
interface PeriodRow {
  period: string
  mails: number
  campaign_mails: number
}

/** A period without a row has counted nothing yet. */
function usageOf(rows: readonly PeriodRow[], month: string, day: string): Usage {
  const inMonth = rows.find(({ period }) => period === month)
  const inDay = rows.find(({ period }) => period === day)
  return {
    monthMails: inMonth?.mails ?? 0,
    dayMails: inDay?.mails ?? 0,
    monthCampaignMails: inMonth?.campaign_mails ?? 0,
  }
}
