import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Contacts of an account in the order in which they came. */
export const newestContacts: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createIndex('contacts_newest')
      .on('contacts')
      .columns(['account_id', 'id'])
      .execute()
  },
}
