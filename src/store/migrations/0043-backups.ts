import type { Kysely } from 'kysely'

/** That a database is a backup's copy, until its start has held what may have been sent since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('appliance').addColumn('backup_made_at', 'integer').execute()
  await db.schema.alterTable('appliance').addColumn('restored_at', 'integer').execute()
}
