import type { Kysely } from 'kysely'

/** Every POST takes a key now, and some of them answer 201. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('idempotency_keys')
    .addColumn('status', 'integer', (c) => c.notNull().defaultTo(200))
    .execute()
}
