import { sql } from 'kysely'
import type { Read } from '../store/index.js'

/** How many of an account's mails wait without having been tried, in a few ms however long its log is. */
export interface UntriedMails {
  /** Scheduled, counted up to one more than was asked for, and when the first of these leaves. */
  scheduled: number
  nextAt: number | null
  /** Among its newest mails, of which as many are looked at: those in line for their first attempt. */
  inLine: number
}

export async function untriedMails(
  read: Read,
  accountId: string,
  most: { scheduled: number; newest: number },
): Promise<UntriedMails> {
  const scheduled = read
    .selectFrom('emails')
    .select('scheduled_at')
    .where('account_id', '=', accountId)
    // A literal, or SQLite does not see that its small index has all of them.
    .where(sql<boolean>`status = 'scheduled'`)
    .orderBy('id', 'desc')
    .limit(most.scheduled + 1)
    .as('some')
  const newest = read
    .selectFrom('emails')
    .select('status')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(most.newest)
    .as('some')
  const [first, second] = await Promise.all([
    read
      .selectFrom(scheduled)
      .select(({ fn }) => [
        fn.countAll<number>().as('mails'),
        fn.min<number | null>('scheduled_at').as('nextAt'),
      ])
      .executeTakeFirstOrThrow(),
    read
      .selectFrom(newest)
      .select(({ fn }) => fn.countAll<number>().filterWhere('status', '=', 'queued').as('mails'))
      .executeTakeFirstOrThrow(),
  ])
  return { scheduled: first.mails, nextAt: first.nextAt, inLine: second.mails }
}
