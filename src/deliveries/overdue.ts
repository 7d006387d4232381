import { sql } from 'kysely'
import { stoppedAccounts } from '../billing/index.js'
import { type Clock, hourMs } from '../clock/index.js'
import { idsIn, type Read, rareStatus, type Store } from '../store/index.js'
import { hold } from './hold.js'

export interface Overdue {
  deliveries: number
  /** When the longest overdue of them should have left. */
  oldestDueAt: number | undefined
}

/** decisions.md, 'Restore': mail that is overdue by more at the start waits for the operator. */
export const maxOverdueMs = hourMs
const reason = 'scheduled, and overdue by more than an hour when Posthorn started'
const emailsPerRead = 200
const rowsPerWrite = 500

/**
 * At the start, before anything is sent: scheduled mails that are overdue by more than an hour are held for the
 * operator to decide, because the database was restored, copied or asleep, and they may have been sent since or not be
 * wanted any more. Mail that was tried before goes on. So does mail of a stopped account once it may send again: it is
 * overdue because of the stop.
 */
export async function holdOverdue({
  store,
  clock,
}: {
  store: Store
  clock: Clock
}): Promise<Overdue> {
  const now = clock.now()
  const stopped = await stoppedAccounts(store.read)
  const isStopped = ({ accountId, type }: OverdueEmail) =>
    stopped.all.includes(accountId) ||
    (type === 'marketing' && stopped.marketing.includes(accountId))
  const found: Overdue = { deliveries: 0, oldestDueAt: undefined }
  for (let after: Pick<OverdueEmail, 'at' | 'id'> = { at: 0, id: '' }; ; ) {
    const emails = await overdueEmails(store.read, now - maxOverdueMs, after)
    const last = emails.at(-1)
    if (last === undefined) return found
    const free = emails.filter((email) => !isStopped(email))
    const rows = await store.read
      .selectFrom('queue')
      .select(['id', 'due_at'])
      .where(
        'email_id',
        'in',
        idsIn(
          free.map(({ id }) => id),
          'text',
        ),
      )
      .where('attempts', '=', 0)
      // A delivery that was held and released has a later time than its mail.
      .where('due_at', '<', now - maxOverdueMs)
      .execute()
    for (let start = 0; start < rows.length; start += rowsPerWrite) {
      const ids = rows.slice(start, start + rowsPerWrite).map(({ id }) => id)
      const { changed } = await store.write((tx) => hold(tx, ids, { reason, by: 'overdue', now }))
      found.deliveries += changed
    }
    found.oldestDueAt ??= rows[0]?.due_at
    after = last
  }
}

interface OverdueEmail {
  id: string
  at: number
  accountId: string
  type: 'transactional' | 'marketing'
}

/** The next mails in the order of their time: a range of the index `emails_scheduled`. */
async function overdueEmails(
  read: Read,
  before: number,
  after: { at: number; id: string },
): Promise<OverdueEmail[]> {
  const rows = await read
    .selectFrom('emails')
    .select(['id', 'scheduled_at', 'account_id as accountId', 'type'])
    // It is a literal: otherwise SQLite does not see that the index has all of them.
    .where(sql<boolean>`${rareStatus} = 'scheduled'`)
    .where('scheduled_at', '<', before)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('scheduled_at', 'id'), '>', tuple(after.at, after.id)),
    )
    .orderBy('scheduled_at')
    .orderBy('id')
    .limit(emailsPerRead)
    .execute()
  return rows.map(({ scheduled_at, ...row }) => ({ ...row, at: scheduled_at ?? 0 }))
}
