import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/**
 * By whose mail a site was not reached: the domains of one account tell nothing of our way out. The rows are of minutes.
 * When a wait before probes was set: it must not last as long as a clock was ahead.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('egress')
    .addColumn('at', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await schema.dropTable('egress_unreached').execute()
  await schema
    .createTable('egress_unreached')
    .addColumn('site', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('egress_unreached_key', ['site', 'account_id'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
}
