import type { Kysely } from 'kysely'

/** Deliveries that a smart host took on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('emails')
    .addColumn('relayed', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
