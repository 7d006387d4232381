import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

const indexes = {
  contacts_phone: ['phone', 'created_at', 'id'],
  contacts_name: ['name_key', 'id'],
  contacts_last_name: ['last_name_key', 'id'],
} as const

/** Names and numbers are found shelf by shelf; the contacts that are there stay together on the first. */
export const contactShelves: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('contacts')
      .addColumn('shelf', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    for (const [name, columns] of Object.entries(indexes)) {
      await schema.dropIndex(name).execute()
      await schema
        .createIndex(name)
        .on('contacts')
        .columns(['account_id', 'shelf', ...columns])
        .where(columns[0], 'is not', null)
        .execute()
    }
  },
}
