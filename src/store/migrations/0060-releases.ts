import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Which releases of Posthorn have written this database, the last one last: what a refusal names. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('releases')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('version', 'text', (c) => c.notNull())
    // The name of the last migration that it knew.
    .addColumn('migration', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
