import { type Kysely, sql } from 'kysely'

/**
 * An account's keys without a look at those of all others, and what did not arrive at a webhook without one at the
 * million that did. What is sent and arrives pays nothing.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('api_keys_account')
    .on('api_keys')
    .columns(['account_id', 'id'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute()
  await schema
    .createIndex('webhook_deliveries_not_arrived')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'id'])
    .where(sql.ref('outcome'), '<>', sql.lit('delivered'))
    .execute()
}
