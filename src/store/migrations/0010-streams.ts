import type { Kysely } from 'kysely'

/** Accounts take turns within a class, so a claim reads the rows of one account alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema.dropIndex('queue_lane').execute()
  await schema
    .createIndex('queue_stream')
    .on('queue')
    .columns(['lane', 'class', 'account_id', 'due_at'])
    .execute()
}
