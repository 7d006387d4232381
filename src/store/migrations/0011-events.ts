import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What happened to each mail after it was accepted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('events')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addColumn('delivery_id', 'integer')
    .addColumn('recipient', 'text')
    .addColumn('class', 'integer', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('reply', 'text')
    .addColumn('detail', 'text')
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('events_email').on('events').columns(['email_id', 'id']).execute()
}
