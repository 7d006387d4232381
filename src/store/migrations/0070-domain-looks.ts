import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What the last look at a domain's records found, for the page that shows it beside what is wanted. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('domain_looks')
    .addColumn('domain_id', 'text', (c) =>
      c.primaryKey().notNull().references('domains.id').onDelete('cascade'),
    )
    .addColumn('at', 'integer', (c) => c.notNull())
    // JSON: one object a record, with purpose, host, value, state, found and advice.
    .addColumn('records', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
