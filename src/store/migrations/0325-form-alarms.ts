import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** The forms that have become careful or stopped, until their account's owners are told. */
export const formAlarms: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('form_alarms')
      .addColumn('form_id', 'text', (column) =>
        column.primaryKey().references('forms.id').onDelete('cascade'),
      )
      .addColumn('state', 'text', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
  },
}
