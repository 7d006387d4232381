import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Addresses that keep failing, and suppressions that end. Both hold few rows beside the mails. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('soft_bounces')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('first_at', 'integer', (c) => c.notNull())
    .addColumn('last_at', 'integer', (c) => c.notNull())
    .addColumn('delivered_id', 'integer')
    .addPrimaryKeyConstraint('soft_bounces_key', ['account_id', 'address'])
    .modifyEnd(strict)
    .execute()
  await schema.createIndex('soft_bounces_age').on('soft_bounces').column('last_at').execute()
  await schema.alterTable('suppressions').addColumn('expires_at', 'integer').execute()
  await schema
    .createIndex('suppressions_expiry')
    .on('suppressions')
    .column('expires_at')
    .where(sql.ref('expires_at'), 'is not', null)
    .execute()
}
