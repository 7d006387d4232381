import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Who was in the test of a campaign with versions, and what its figures were at the decision. */
export const campaignTested: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const column of ['test_arrived', 'test_did'] as const) {
      await schema.alterTable('broadcast_variants').addColumn(column, 'integer').execute()
    }
    await schema
      .createTable('broadcast_tested')
      .addColumn('broadcast_id', 'text', (column) => column.notNull())
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('broadcast_tested_key', ['broadcast_id', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
  },
}
