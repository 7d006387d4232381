import { type Kysely, sql } from 'kysely'

/** Whose runs of automations may go on since their account has changed, found without looking at all. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  for (const column of ['revision', 'woken_revision']) {
    await schema
      .alterTable('subscriptions')
      .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  }
  await schema
    .createIndex('subscriptions_changed')
    .on('subscriptions')
    .column('account_id')
    .where(sql.ref('revision'), '<>', sql.ref('woken_revision'))
    .execute()
  await schema
    .createIndex('automation_live_blocked_account')
    .on('automation_live')
    .columns(['account_id', 'id'])
    .where(sql.ref('blocked'), 'is not', null)
    .execute()
}
