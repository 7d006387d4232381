import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** What people did with their mail, by contact; existing events are counted bit by bit after the start. */
export const engagement: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('contact_engagement')
      .addColumn('contact_id', 'text', (column) =>
        column.primaryKey().notNull().references('contacts.id').onDelete('cascade'),
      )
      .addColumn('sent', 'integer', (column) => column.notNull())
      .addColumn('opened', 'integer', (column) => column.notNull())
      .addColumn('clicked', 'integer', (column) => column.notNull())
      .addColumn('last_sent_at', 'integer')
      .addColumn('last_opened_at', 'integer')
      .addColumn('last_clicked_at', 'integer')
      .modifyEnd(plain)
      .execute()
    for (const column of ['engaged_id', 'engaged_until']) {
      await db.schema
        .alterTable('figure_cursors')
        .addColumn(column, 'integer', (added) => added.notNull().defaultTo(0))
        .execute()
    }
    await db.updateTable('figure_cursors').set({ engaged_until: sql<number>`event_id` }).execute()
  },
}
