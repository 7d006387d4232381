import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Messages that programs wrote as a whole, and the sessions in which they handed them in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('raw_messages')
    .addColumn('email_id', 'text', (c) => c.primaryKey())
    .addColumn('header', 'blob', (c) => c.notNull())
    .addColumn('content_id', 'integer', (c) => c.notNull())
    .addColumn('body_bytes', 'integer', (c) => c.notNull())
    .addColumn('body_hash', 'text', (c) => c.notNull())
    .addColumn('eight_bit', 'integer', (c) => c.notNull())
    .addColumn('smtp_utf8', 'integer', (c) => c.notNull())
    // JSON; null: nothing of it may be changed.
    .addColumn('parts', 'text')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('submission_sessions')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    // Null: nobody logged in.
    .addColumn('account_id', 'text')
    .addColumn('key_last4', 'text')
    .addColumn('user', 'text')
    .addColumn('listener', 'text', (c) => c.notNull())
    .addColumn('remote_address', 'text', (c) => c.notNull())
    .addColumn('helo', 'text', (c) => c.notNull())
    .addColumn('tls', 'text')
    .addColumn('began_at', 'integer', (c) => c.notNull())
    .addColumn('ended_at', 'integer', (c) => c.notNull())
    .addColumn('accepted', 'integer', (c) => c.notNull())
    .addColumn('refused', 'integer', (c) => c.notNull())
    .addColumn('verdict', 'text', (c) => c.notNull())
    // JSON array of the first ids that were given out.
    .addColumn('email_ids', 'text', (c) => c.notNull())
    // Only of one in which something was refused.
    .addColumn('transcript', 'text')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('submission_sessions_account')
    .on('submission_sessions')
    .columns(['account_id', 'id'])
    .execute()
}
