import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** The people of a campaign's audience who got no mail when its mails were made, and why. */
export const leftOut: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const why of ['unsubscribed', 'bounced', 'complained', 'suppressed', 'topic'] as const) {
      await schema
        .alterTable('broadcasts')
        .addColumn(`out_${why}`, 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
    await schema
      .createTable('broadcast_left_out')
      .addColumn('broadcast_id', 'text', (column) => column.notNull())
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('broadcast_left_out_key', ['broadcast_id', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
  },
}
