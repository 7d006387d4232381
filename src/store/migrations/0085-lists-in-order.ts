import { type Kysely, sql } from 'kysely'

/** An account's lists in the order in which they are listed, some at a time. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.dropIndex('contact_lists_account').execute()
  await schema
    .createIndex('contact_lists_account')
    .on('contact_lists')
    .columns(['account_id', 'created_at', 'id'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute()
}
