import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** What was said in each attempt that ended in another one to come; the last one's stands with its delivery. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('deferred_transcripts')
    .addColumn('delivery_id', 'integer', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('transcript', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('deferred_transcripts_key', ['delivery_id', 'at'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
}
