import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** What retention counts and remembers; nothing of it is written on the way of a mail. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('body_uses')
    .addColumn('body_id', 'integer', (c) => c.primaryKey())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .addColumn('hash', 'text')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('body_uses_hash')
    .unique()
    .on('body_uses')
    .column('hash')
    .where(sql.ref('hash'), 'is not', null)
    .execute()
  await schema
    .createTable('past_deliveries')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addColumn('recipient', 'text', (c) => c.notNull())
    .addColumn('class', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('forget_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('past_deliveries_forget')
    .on('past_deliveries')
    .column('forget_at')
    .execute()
  await schema
    .createTable('retention_state')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('mail_number', 'integer', (c) => c.notNull())
    .addColumn('mail_id', 'text', (c) => c.notNull())
    .addColumn('bodies_through', 'text', (c) => c.notNull())
    .addColumn('transcripts_through', 'text', (c) => c.notNull())
    .addColumn('ran_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await sql`insert into retention_state values (1, 0, '', '', '', 0)`.execute(db)
  await schema
    .createTable('retention_walks')
    .addColumn('log', 'text', (c) => c.notNull())
    .addColumn('keep_ms', 'integer', (c) => c.notNull())
    .addColumn('accounts', 'text', (c) => c.notNull())
    .addColumn('cursor', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('retention_walks_key', ['log', 'keep_ms'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('retention_waiting')
    .addColumn('what', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('retention_waiting_key', ['what', 'email_id'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  // Asked before a body is deleted; a row a campaign, and one a version of a template.
  await schema.createIndex('broadcasts_body').on('broadcasts').column('body_id').execute()
  await schema
    .createIndex('template_versions_body')
    .on('template_versions')
    .column('body_id')
    .where(sql.ref('body_id'), 'is not', null)
    .execute()
}
