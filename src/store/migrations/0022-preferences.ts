import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** The picture that an account's recipients see on its pages; a new one has another `public_id`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('account_logos')
    .addColumn('account_id', 'text', (c) => c.primaryKey())
    .addColumn('public_id', 'text', (c) => c.notNull().unique())
    .addColumn('content_type', 'text', (c) => c.notNull())
    .addColumn('bytes', 'blob', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
