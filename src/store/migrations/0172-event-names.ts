import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** The names of contacts' events; existing events are counted bit by bit. */
export const eventNames: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('event_names')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('last_at', 'integer', (column) => column.notNull())
      .addColumn('sample_id', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('event_names_key', ['account_id', 'name'])
      .modifyEnd(clustered)
      .execute()
    await db.schema
      .createTable('event_names_through')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('event_id', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
    await db.insertInto('event_names_through').values({ id: 1, event_id: 0 }).execute()
  },
}
