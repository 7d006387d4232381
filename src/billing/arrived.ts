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
    [dayMs, hourMs].map((span) => ({
      holder: holderOf(accountId),
      span,
      at: beginOf(span, now),
      mails,
    })),
  )

/** What came in for an account within the present hour and day (UTC). */
export interface ArrivedMails {
  hour: number
  day: number
}

export async function readArrived(
  read: Read,
  accountId: string,
  now: number,
): Promise<ArrivedMails> {
  const counts = await countsOf(read, {
    holder: holderOf(accountId),
    day: beginOf(dayMs, now),
    hour: beginOf(hourMs, now),
  })
  const of = (span: number) => counts.find((one) => one.span === span)?.mails ?? 0
  return { hour: of(hourMs), day: of(dayMs) }
}

/** How many more may come in at this moment; undefined: any number, for which nothing is asked. */
export async function arrivalsLeft(
  read: Read,
  accountId: string,
  { receivedPerDay, receivedPerHour }: ArrivalLimits,
  now: number,
): Promise<ArrivalsLeft | undefined> {
  if (receivedPerDay === null && receivedPerHour === null) return undefined
  const arrived = await readArrived(read, accountId, now)
  const left = (limit: number | null, used: number) =>
    limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - used)
  const ofHour = left(receivedPerHour, arrived.hour)
  const ofDay = left(receivedPerDay, arrived.day)
  return ofDay <= ofHour ? { mails: ofDay, within: 'day' } : { mails: ofHour, within: 'hour' }
}

// Beside what accounts and keys hand in, whose holders are bare ids.
const holderOf = (accountId: string) => `received ${accountId}`
const beginOf = (span: number, now: number) => now - (now % span)

/** When the day (UTC) began in which plans count. */
export const plansDay = (now: number) => beginOf(dayMs, now)

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
