import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/**
 * Lists and contacts by the million: counters beside what would have to be counted, lists that are
 * on their way out, and narrower keys, which is what an import spends its time on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .alterTable('contact_lists')
    .addColumn('contact_count', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await schema.alterTable('contact_lists').addColumn('deleted_at', 'integer').execute()
  // The members' key alone, in which pages of a list are read: newest contact first (UUIDv7).
  await schema
    .createTable('members')
    .addColumn('list_id', 'text', (c) => c.notNull().references('contact_lists.id'))
    .addColumn('contact_id', 'text', (c) => c.notNull().references('contacts.id'))
    .addColumn('added_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_members_key', ['list_id', 'contact_id'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await sql`insert into members select list_id, contact_id, added_at from list_members`.execute(db)
  await schema.dropTable('list_members').execute()
  await schema.alterTable('members').renameTo('list_members').execute()
  await schema.createIndex('list_members_contact').on('list_members').column('contact_id').execute()
  await sql`update contact_lists set contact_count =
    (select count(*) from list_members where list_id = contact_lists.id)`.execute(db)
  await schema.dropIndex('contacts_phone').execute()
  await schema
    .createIndex('contacts_phone')
    .on('contacts')
    .columns(['account_id', 'phone', 'created_at'])
    .where(sql.ref('phone'), 'is not', null)
    .execute()
  await schema
    .createTable('contact_totals')
    .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
    .addColumn('contacts', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await sql`insert into contact_totals
    select account_id, count(*) from contacts group by account_id`.execute(db)
}
