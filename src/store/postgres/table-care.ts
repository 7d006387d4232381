import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/*
 * Rows of these tables die soon after they were written, and a search passes over the dead ones until vacuum removes
 * them: by default that waits until a fifth of the table is dead, and then pauses between pages. Room in each page
 * lets a changed row stay beside its old one.
 */
const busy = ['queue', 'webhook_jobs', 'inbound_spool', 'sessions', 'protection', 'usage']
const care = sql`fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0`

/** Done once for each table, so that an operator's later settings stay. */
export async function careForTables(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace
      and relkind = 'r' and reloptions is null and relname in (${sql.join(busy)})`.execute(db)
  for (const { name } of rows) await sql`alter table ${sql.table(name)} set (${care})`.execute(db)
}
