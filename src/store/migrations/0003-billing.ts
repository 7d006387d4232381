import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What each account may send and has sent, and whom it must not mail. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('subscriptions')
    .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
    .addColumn('first_account', 'integer', (c) => c.notNull())
    .addColumn('plan_id', 'text')
    .addColumn('marketing_plan_id', 'text')
    .addColumn('billing_state', 'text', (c) => c.notNull())
    .addColumn('suspended_reason', 'text')
    .addColumn('paused', 'text')
    .addColumn('marketing_paused', 'text')
    .modifyEnd(strict)
    .execute()
  await sql`
    insert into subscriptions (account_id, first_account, billing_state)
    select id, case when id = (select min(id) from accounts) then 1 else 0 end, 'active'
    from accounts
  `.execute(db)
  await schema
    .createTable('usage')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('period', 'text', (c) => c.notNull())
    .addColumn('mails', 'integer', (c) => c.notNull())
    .addColumn('campaign_mails', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_key', ['account_id', 'period'])
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('suppressions')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text')
    .addColumn('detail', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    // An address may be there for several reasons, each of which is lifted on its own.
    .addPrimaryKeyConstraint('suppressions_key', ['account_id', 'address', 'reason'])
    .modifyEnd(strict)
    .execute()
}
