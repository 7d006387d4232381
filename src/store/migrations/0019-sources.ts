import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/**
 * What shaping remembers over a restart: how far each source address has come with its warm-up, and
 * what the threads have learned about sites (suspensions above all).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sources')
    .addColumn('address', 'text', (c) => c.primaryKey().notNull())
    .addColumn('first_day', 'integer', (c) => c.notNull())
    .addColumn('last_day', 'integer', (c) => c.notNull())
    .addColumn('ramp_day', 'integer', (c) => c.notNull())
    .addColumn('sent', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('site_states')
    .addColumn('site', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('thread', 'integer', (c) => c.notNull())
    .addColumn('learned', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('site_states_key', ['site', 'source', 'thread'])
    .modifyEnd(strict)
    .execute()
}
