import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Accounts at directories of ACME, and how far each name's certificate has come. The certificates are files. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('acme_accounts')
    .addColumn('directory', 'text', (c) => c.primaryKey())
    .addColumn('key', 'blob', (c) => c.notNull())
    .addColumn('url', 'text')
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('next_at', 'integer', (c) => c.notNull())
    .addColumn('error', 'text')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('certificates')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('failed_since', 'integer')
    .addColumn('ordered_at', 'integer')
    .addColumn('next_at', 'integer', (c) => c.notNull())
    .addColumn('renew_at', 'integer')
    .addColumn('error', 'text')
    .addColumn('fix', 'text')
    .addColumn('order_url', 'text')
    .addColumn('order_key', 'blob')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createIndex('domains_tracking_host')
    .on('domains')
    .column('tracking_host')
    .where('tracking_host', 'is not', null)
    .execute()
}
