import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What runs by the calendar: up to when its due times are dealt with, and how its runs went. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('jobs')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('schedule', 'text', (c) => c.notNull())
    .addColumn('handled_until', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('job_runs')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    // Null: somebody has started it by hand.
    .addColumn('due_at', 'integer')
    .addColumn('began_at', 'integer', (c) => c.notNull())
    .addColumn('ended_at', 'integer')
    .addColumn('result', 'text', (c) => c.notNull())
    .addColumn('summary', 'text')
    .addColumn('problems', 'text', (c) => c.notNull())
    .addColumn('figures', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .modifyEnd(strict)
    .execute()
  await schema.createIndex('job_runs_name').on('job_runs').columns(['name', 'id']).execute()
}
