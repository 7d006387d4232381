import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Contacts' events that are older than their account keeps them, and that a live run may still ask for. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_kept')
    .addColumn('event_id', 'integer', (c) => c.primaryKey())
    .modifyEnd(strict)
    .execute()
}
