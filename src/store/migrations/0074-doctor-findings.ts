import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What the doctor's last examination has found; the next one takes its place. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('doctor_findings')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('check', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('found', 'text', (c) => c.notNull())
    .addColumn('fix', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
