import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/**
 * What each address agreed to and took back. How an import brought somebody lies with the
 * membership while that lasts, and moves here when it ends: a row of its own for each of a million
 * would take as long as all the rest of the import.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  // By address, without foreign keys: it outlives the contact, the list, the topic and the mail.
  await schema
    .createTable('consent')
    .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('consent_address')
    .on('consent')
    .columns(['account_id', 'address'])
    .execute()
  await schema
    .createTable('contact_imports')
    .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('list_id', 'text', (c) => c.notNull())
    .addColumn('file', 'text', (c) => c.notNull())
    .addColumn('started_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema.alterTable('list_members').addColumn('import_id', 'integer').execute()
  await schema.alterTable('list_members').addColumn('line', 'integer').execute()
}
