import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** DKIM keys that will follow those in use, and those that came before them. */
export const dkimRotation: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('dkim_keys')
      .addColumn('stage', 'text', (column) => column.notNull().defaultTo('current'))
      .execute()
    await schema.alterTable('dkim_keys').addColumn('may_go_at', 'integer').execute()
  },
}
