import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** The orders of the last day, which count against limits also when their names have left. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('certificate_orders')
    .addColumn('ordered_at', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('account_id', 'text')
    .addColumn('is_first', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('certificate_orders_at', ['ordered_at', 'name'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
}
