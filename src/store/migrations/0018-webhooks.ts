import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Where accounts hear of events: endpoints, what still goes to them, and what went. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('webhook_endpoints')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('events', 'text', (c) => c.notNull())
    .addColumn('secret', 'blob', (c) => c.notNull())
    .addColumn('old_secret', 'blob')
    .addColumn('old_secret_until', 'integer')
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('disabled_at', 'integer')
    .addColumn('disabled_because', 'text')
    .addColumn('announced', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('deleted_at', 'integer')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('webhook_endpoints_account')
    .on('webhook_endpoints')
    .column('account_id')
    .execute()
  // AUTOINCREMENT: the courier reads on from the last id, so none may come twice.
  await schema
    .createTable('webhook_jobs')
    .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('endpoint_id', 'text', (c) => c.notNull())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('webhook_jobs_endpoint')
    .on('webhook_jobs')
    .columns(['endpoint_id', 'id'])
    .execute()
  await schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('endpoint_id', 'text', (c) => c.notNull())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('response', 'text')
    .addColumn('error', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('ended_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('webhook_deliveries_endpoint')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'id'])
    .execute()
  await schema
    .createIndex('webhook_endpoints_unannounced')
    .on('webhook_endpoints')
    .column('id')
    .where(sql.ref('announced'), '=', sql.lit(0))
    .execute()
}
