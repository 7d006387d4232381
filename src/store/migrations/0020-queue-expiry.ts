import type { Kysely } from 'kysely'

/** What waits behind a closed gate expires too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('queue_expiry').on('queue').column('expires_at').execute()
}
