import type { Kysely } from 'kysely'

/** Which topic a marketing mail is of: its unsubscribe link leaves that topic alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('emails').addColumn('topic_id', 'text').execute()
}
