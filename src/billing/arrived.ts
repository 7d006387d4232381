import { sql } from 'kysely'
import { dayMs, hourMs } from '../clock/index.js'
import { prepared, type Read, type Tx } from '../store/index.js'
import { addMails } from './handed-in.js'
import type { EmailPlan } from './plan.js'

/** What a plan lets come in. */
export type ArrivalLimits = Pick<EmailPlan, 'receivedPerDay' | 'receivedPerHour'>

/** How many more mails may come in, and whose end that is. */
export interface ArrivalsLeft {
  mails: number
  within: 'hour' | 'day'
}

/** Counts mails that came in for an account, in the write that stores them: of its day (UTC) and its hour. */
export const countArrived = (tx: Tx, accountId: string, mails: number, now: number) =>
  addMails(
    tx,
    [dayMs, hourMs].map((span) => [holderOf(accountId), span, beginOf(span, now), mails]),
  )

/** How many more may come in at this moment; undefined: any number, for which nothing is asked. */
export async function arrivalsLeft(
  read: Read,
  accountId: string,
  { receivedPerDay, receivedPerHour }: ArrivalLimits,
  now: number,
): Promise<ArrivalsLeft | undefined> {
  if (receivedPerDay === null && receivedPerHour === null) return undefined
  const counts = await countsOf(read, {
    holder: holderOf(accountId),
    day: beginOf(dayMs, now),
    hour: beginOf(hourMs, now),
  })
  const left = (span: number, limit: number | null) =>
    limit === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, limit - (counts.find((one) => one.span === span)?.mails ?? 0))
  const ofHour = left(hourMs, receivedPerHour)
  const ofDay = left(dayMs, receivedPerDay)
  return ofDay <= ofHour ? { mails: ofDay, within: 'day' } : { mails: ofHour, within: 'hour' }
}

// Beside what accounts and keys hand in, whose holders are bare ids.
const holderOf = (accountId: string) => `received ${accountId}`
const beginOf = (span: number, now: number) => now - (now % span)

/** By the primary key: each RCPT asks. */
const countsOf = prepared<
  { holder: string; day: number; hour: number },
  { span: number; mails: number }
>((db, { holder, day, hour }) =>
  db
    .selectFrom('handed_in')
    .select(['span', 'mails'])
    .where('holder', '=', holder)
    .where((eb) =>
      eb.or([
        eb.and([eb('span', '=', sql.lit(dayMs)), eb('at', '=', day)]),
        eb.and([eb('span', '=', sql.lit(hourMs)), eb('at', '=', hour)]),
      ]),
    ),
)
