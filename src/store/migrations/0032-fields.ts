import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What few mails have (cc, bcc, headers, tags); what mails are listed by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema.alterTable('emails').addColumn('extras', 'text').execute()
  await schema.alterTable('emails').addColumn('template', 'text').execute()
  await schema.alterTable('broadcasts').addColumn('extras', 'text').execute()
  await schema
    .createTable('email_tags')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('email_tags_key', ['account_id', 'name', 'value', 'email_id'])
    .modifyEnd(sql`strict, without rowid`)
    .execute()
  await schema
    .createTable('recipient_entries')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('key', 'integer', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('recipient_entries_key', ['day', 'key', 'email_id'])
    .modifyEnd(sql`strict, without rowid`)
    .execute()
  await schema
    .createTable('recipient_index')
    .addColumn('through', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await sql`insert into recipient_index (through) values ('')`.execute(db)
  // Mails are listed by these. What goes well is in no index by its status, which changes with every mail.
  await schema.createIndex('emails_account').on('emails').columns(['account_id', 'id']).execute()
  await schema
    .createIndex('emails_template')
    .on('emails')
    .columns(['account_id', 'template', 'id'])
    .where(sql.ref('template'), 'is not', null)
    .execute()
  await schema
    .createIndex('emails_rare')
    .on('emails')
    .columns(['account_id', 'status', 'id'])
    .where(sql<boolean>`status in ('bounced', 'failed', 'cancelled', 'suppressed')`)
    .execute()
}
