import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** The MTA-STS policies of recipient domains, kept as long as they ask for (RFC 8461 §3.3). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mta_sts')
    .addColumn('domain', 'text', (c) => c.primaryKey().notNull())
    .addColumn('policy_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('mx', 'text', (c) => c.notNull())
    .addColumn('max_age_ms', 'integer', (c) => c.notNull())
    .addColumn('fetched_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('mta_sts_expiry').on('mta_sts').column('expires_at').execute()
}
