import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/**
 * One row: what shows that an appliance key is the one that this database was made with. And an index goes
 * that no statement uses any more: the inbound thread knows by itself what of its spool is due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('appliance')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('key_check', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema.dropIndex('inbound_spool_due').ifExists().execute()
}
