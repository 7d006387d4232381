import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** What mails carry beside their text, once for equal bytes of an account, and which bodies carry it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('contents')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('sha256', 'blob', (c) => c.notNull())
    .addColumn('size_bytes', 'integer', (c) => c.notNull())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('contents_account_sha256')
    .unique()
    .on('contents')
    .columns(['account_id', 'sha256'])
    .execute()
  await schema
    .createIndex('contents_unused')
    .on('contents')
    .column('id')
    .where(sql.ref('uses'), '=', sql.lit(0))
    .execute()
  await schema
    .createTable('content_pieces')
    .addColumn('content_id', 'integer', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('content_pieces_key', ['content_id', 'number'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema.alterTable('bodies').addColumn('attachments', 'text').execute()
}
