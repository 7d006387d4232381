import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** How fast a campaign is sent, in which hours, and at which time of each recipient's own clock. */
export const campaignPace: Migration = {
  async up(db: Kysely<Tables>) {
    const columns = {
      rate: 'integer',
      send_window: 'text',
      local_zone: 'text',
      next_at: 'integer',
      paced_to: 'integer',
    } as const
    for (const [name, type] of Object.entries(columns)) {
      await db.schema.alterTable('broadcasts').addColumn(name, type).execute()
    }
    await db.schema
      .createTable('broadcast_later')
      .addColumn('broadcast_id', 'text', (column) => column.notNull())
      .addColumn('due_at', 'integer', (column) => column.notNull())
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('broadcast_later_key', ['broadcast_id', 'due_at', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
  },
}
