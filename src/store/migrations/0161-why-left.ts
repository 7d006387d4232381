import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Why people left by a campaign, as they said it. */
export const whyLeft: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('broadcast_why_left')
      .addColumn('broadcast_id', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('said', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('broadcast_why_left_key', ['broadcast_id', 'reason'])
      .modifyEnd(clustered)
      .execute()
  },
}
