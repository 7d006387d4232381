import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Who can be mailed: contacts, lists, topics, and who has left a topic. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('contacts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('first_name', 'text')
    .addColumn('last_name', 'text')
    .addColumn('phone', 'text')
    .addColumn('metadata', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addUniqueConstraint('contacts_account_address', ['account_id', 'address'])
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('contacts_phone')
    .on('contacts')
    .columns(['account_id', 'phone', 'created_at', 'id'])
    .where(sql.ref('phone'), 'is not', null)
    .execute()
  await schema
    .createTable('contact_lists')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('contact_lists_account')
    .on('contact_lists')
    .column('account_id')
    .execute()
  await schema
    .createTable('list_members')
    .addColumn('list_id', 'text', (c) =>
      c.notNull().references('contact_lists.id').onDelete('cascade'),
    )
    .addColumn('contact_id', 'text', (c) =>
      c.notNull().references('contacts.id').onDelete('cascade'),
    )
    .addColumn('added_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_members_key', ['list_id', 'contact_id'])
    .modifyEnd(strict)
    .execute()
  await schema.createIndex('list_members_contact').on('list_members').column('contact_id').execute()
  await schema
    .createTable('topics')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('name_key', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('archived', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addUniqueConstraint('topics_account_name', ['account_id', 'name_key'])
    .modifyEnd(strict)
    .execute()
  // By address, without foreign keys: an opt-out outlives the contact and the topic.
  await schema
    .createTable('topic_opt_outs')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('topic_id', 'text', (c) => c.notNull())
    .addColumn('opted_out_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('topic_opt_outs_key', ['account_id', 'address', 'topic_id'])
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('topic_opt_outs_topic')
    .on('topic_opt_outs')
    .columns(['topic_id', 'opted_out_at'])
    .execute()
}
