import type { Kysely } from 'kysely'

/** When the appliance last wrote to see whether it can: what health checks ask, and commands while none runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('appliance')
    .addColumn('alive_at', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
