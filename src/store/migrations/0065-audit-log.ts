import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Who changed what, by which way: pages, commands and the API alike. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_log')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('at', 'integer', (c) => c.notNull())
    // Null: of the appliance.
    .addColumn('account_id', 'text')
    .addColumn('user_id', 'text')
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target', 'text')
    .addColumn('detail', 'text', (c) => c.notNull())
    .addColumn('address_key', 'text')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('audit_log_account')
    .on('audit_log')
    .columns(['account_id', 'id'])
    .execute()
}
