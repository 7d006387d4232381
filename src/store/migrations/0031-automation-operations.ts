import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What operators start over lists, and which runs are held or blocked, found without looking at all. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_backfills')
    .addColumn('automation_id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('list_id', 'text', (c) => c.notNull())
    .addColumn('per_hour', 'integer', (c) => c.notNull())
    .addColumn('cursor', 'text', (c) => c.notNull())
    .addColumn('seen', 'integer', (c) => c.notNull())
    .addColumn('started', 'integer', (c) => c.notNull())
    .addColumn('next_at', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('ended_at', 'integer')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automation_live_held')
    .on('automation_live')
    .column('id')
    .where(sql.ref('held_at'), 'is not', null)
    .execute()
  await schema
    .createIndex('automation_live_blocked')
    .on('automation_live')
    .column('blocked')
    .where(sql.ref('blocked'), 'is not', null)
    .execute()
}
