import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Copies of the mails of test keys, by account. */
export const testInbox: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const column of ['account_id', 'email_id'] as const) {
      await schema.alterTable('sandbox_messages').addColumn(column, 'text').execute()
    }
    await schema
      .createIndex('sandbox_messages_account')
      .on('sandbox_messages')
      .columns(['account_id', 'id'])
      .where('account_id', 'is not', null)
      .execute()
  },
}
