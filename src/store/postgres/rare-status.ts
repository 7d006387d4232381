import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/*
 * A row that changes in no column of any index is written beside its old one, and no index hears of it (a HOT update).
 * SQLite knows indexes by a condition alone: a mail that goes well changes its status twice, and is in none of those by its
 * status before or after. PostgreSQL counts the column of a condition as one of the index. So here these indexes are of a
 * column that has the status of few mails, and nothing of all others: it stays as it is while a mail goes well.
 */
const statusOfFew = sql`rare_status text collate "C" generated always as
  (case when status in ('scheduled', 'bounced', 'failed', 'cancelled', 'suppressed') then status end) stored`
// Room in each page for the rows that a mail becomes.
const fillfactor = sql`fillfactor = 70`

/** Once a database, with the words of `schema/emails.ts` but for the column. */
export async function quietenMails(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql`
    select from information_schema.columns where table_schema = current_schema() and table_name = 'emails'
      and column_name = 'rare_status'`.execute(db)
  if (rows.length > 0) return
  await db.transaction().execute(async (tx) => {
    await sql`alter table emails add column ${statusOfFew}`.execute(tx)
    await sql`alter table emails set (${fillfactor})`.execute(tx)
    for (const name of ['emails_scheduled', 'emails_rare', 'emails_scheduled_account']) {
      await tx.schema.dropIndex(name).execute()
    }
    await sql`create index emails_scheduled on emails (scheduled_at, id)
      where rare_status = 'scheduled'`.execute(tx)
    await sql`create index emails_rare on emails (account_id, rare_status, id)
      where rare_status in ('bounced', 'failed', 'cancelled', 'suppressed')`.execute(tx)
    await sql`create index emails_scheduled_account on emails (account_id, id, scheduled_at)
      where rare_status = 'scheduled'`.execute(tx)
  })
}
