import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Which way mail leaves, for all threads: of a site, of everything, and on what evidence. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .alterTable('emails')
    .addColumn('relayed', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await schema
    .createTable('egress')
    .addColumn('scope', 'text', (c) => c.primaryKey())
    .addColumn('orders', 'text', (c) => c.notNull())
    .addColumn('way', 'text', (c) => c.notNull())
    .addColumn('why', 'text', (c) => c.notNull())
    .addColumn('cause', 'text', (c) => c.notNull())
    .addColumn('since', 'integer', (c) => c.notNull())
    .addColumn('until', 'integer', (c) => c.notNull())
    .addColumn('passed', 'integer', (c) => c.notNull())
    .addColumn('relapses', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('egress_unreached')
    .addColumn('site', 'text', (c) => c.primaryKey())
    .addColumn('at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
