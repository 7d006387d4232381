import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/*
 * A row that changes in no indexed column is written beside its old version, and no index is touched (a HOT update).
 * For SQLite a column in the condition of an index does not count: a mail that goes well changes its status twice,
 * and is never in an index by status. PostgreSQL counts a condition's column as part of the index. So here these
 * indexes are on a column that has the status of few mails and is null for all others: it does not change while a
 * mail goes well.
 */
const statusOfFew = sql`rare_status text collate "C" generated always as
  (case when status in ('scheduled', 'bounced', 'failed', 'cancelled', 'suppressed') then status end) stored`
// Room in each page for the later versions of a mail's row.
const fillfactor = sql`fillfactor = 70`

/** Called once for a database; the indexes are those of `schema/emails.ts`, with another column. */
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
