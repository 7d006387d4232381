import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What came by SMTP: reports that wait to be read, and the mail of postmaster@ and abuse@. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('inbound_spool')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('received_at', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'integer', (c) => c.notNull())
    .addColumn('remote_address', 'text', (c) => c.notNull())
    .addColumn('recipients', 'text', (c) => c.notNull())
    .addColumn('tries', 'integer', (c) => c.notNull())
    .addColumn('raw', 'blob', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createIndex('inbound_spool_due')
    .on('inbound_spool')
    .columns(['due_at', 'id'])
    .execute()
  await db.schema
    .createTable('operator_mails')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('received_at', 'integer', (c) => c.notNull())
    .addColumn('recipient', 'text', (c) => c.notNull())
    .addColumn('mail_from', 'text', (c) => c.notNull())
    .addColumn('header_from', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('remote_address', 'text', (c) => c.notNull())
    .addColumn('size_bytes', 'integer', (c) => c.notNull())
    .addColumn('to_forward', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('operator_mail_sources')
    .addColumn('id', 'integer', (c) =>
      c.primaryKey().references('operator_mails.id').onDelete('cascade'),
    )
    .addColumn('raw', 'blob', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
