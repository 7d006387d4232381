import { type Kysely, sql } from 'kysely'

/**
 * Since when an endpoint has failed: a count of events alone disables one that was down for a minute of a campaign.
 * And how much is set aside for it, which comes also while it is disabled, with how much found no room.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('webhook_endpoints').addColumn('failing_since', 'integer').execute()
  for (const name of ['aside_bytes', 'events_not_kept']) {
    await schema
      .alterTable('webhook_endpoints')
      .addColumn(name, 'integer', (c) => c.notNull().defaultTo(sql.lit(0)))
      .execute()
  }
}
