import type { Kysely } from 'kysely'

/** What a key may do; those of before may do everything. And suppressions are listed by their reason. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  const keys = () => schema.alterTable('api_keys')
  await keys()
    .addColumn('scope', 'text', (c) => c.notNull().defaultTo('full'))
    .execute()
  // JSON arrays; null: no limit.
  await keys().addColumn('domains', 'text').execute()
  await keys().addColumn('networks', 'text').execute()
  await keys().addColumn('expires_at', 'integer').execute()
  await schema
    .createIndex('suppressions_by_reason')
    .on('suppressions')
    .columns(['account_id', 'reason', 'address'])
    .execute()
}
