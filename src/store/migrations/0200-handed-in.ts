import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Limits of mails an hour and a minute, and how many were handed in within each. */
export const handedIn: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('api_keys').addColumn('per_hour', 'integer').execute()
    await schema.alterTable('api_keys').addColumn('per_minute', 'integer').execute()
    await schema
      .createTable('handed_in')
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('span', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('mails', 'integer', (column) => column.notNull())
      .addColumn('fresh', 'integer')
      .addPrimaryKeyConstraint('handed_in_key', ['holder', 'span', 'at'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('handed_in_old')
      .on('handed_in')
      .columns(['span', 'at', 'holder'])
      .execute()
  },
}
