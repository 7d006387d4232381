import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Campaigns to several lists and segments, their preview text, and drafts that two people may write at once. */
export const campaignAudience: Migration = {
  async up(db: Kysely<Tables>) {
    for (const column of ['whom', 'counts', 'preview_text'] as const) {
      await db.schema.alterTable('broadcasts').addColumn(column, 'text').execute()
    }
    await db.schema.alterTable('broadcasts').addColumn('marks_up_to', 'integer').execute()
    await db.schema
      .alterTable('broadcasts')
      .addColumn('revision', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createIndex('broadcasts_of_status')
      .on('broadcasts')
      .columns(['account_id', 'status', 'id'])
      .execute()
  },
}
