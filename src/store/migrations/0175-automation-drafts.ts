import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** The draft of an automation, while its current version goes on unchanged. */
export const automationDrafts: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('automation_drafts')
      .addColumn('automation_id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('changed_at', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
  },
}
