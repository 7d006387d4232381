import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What few mails have (cc, bcc, headers, tags), and the tags again where mails are found by them. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('emails').addColumn('extras', 'text').execute()
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
}
