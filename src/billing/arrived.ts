import { sql } from 'kysely'
import { dayMs } from '../clock/index.js'
import { prepared, type Read, type Tx } from '../store/index.js'

/** Counts mails that came in for an account, in the write that stores them. */
export const countArrived = (tx: Tx, accountId: string, mails: number, now: number) =>
  add(tx, { holder: holderOf(accountId), at: dayAt(now), mails })

/** How many have come in since the day began (UTC). */
export async function arrivedToday(read: Read, accountId: string, now: number): Promise<number> {
  const [row] = await countOf(read, { holder: holderOf(accountId), at: dayAt(now) })
  return row?.mails ?? 0
}

// Beside what accounts and keys hand in, whose holders are bare ids.
const holderOf = (accountId: string) => `received ${accountId}`
const dayAt = (now: number) => now - (now % dayMs)

const add = prepared<{ holder: string; at: number; mails: number }, unknown>(
  (db, { holder, at, mails }) =>
    db
      .insertInto('handed_in')
      .values({ holder, span: sql.lit(dayMs), at, mails })
      .onConflict((conflict) =>
        conflict
          .columns(['holder', 'span', 'at'])
          .doUpdateSet({ mails: sql`handed_in.mails + excluded.mails` }),
      ),
)

/** By the primary key: each RCPT asks. */
const countOf = prepared<{ holder: string; at: number }, { mails: number }>((db, { holder, at }) =>
  db
    .selectFrom('handed_in')
    .select('mails')
    .where('holder', '=', holder)
    .where('span', '=', sql.lit(dayMs))
    .where('at', '=', at),
)
