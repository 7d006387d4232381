import { type Kysely, sql } from 'kysely'

/** Finds what was set aside for the operator among all that ever went to webhooks; what was sent pays nothing. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('webhook_deliveries_aside')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'error', 'created_at'])
    .where(sql.ref('outcome'), '=', sql.lit('dropped'))
    .execute()
}
