import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** What an account calls the fields of its contacts, and which of them recipients may change. */
export const contactFields: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('contact_fields')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('name_key', 'text', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('choices', 'text', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('recipients_may_edit', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addUniqueConstraint('contact_fields_name', ['account_id', 'name_key'])
      .modifyEnd(plain)
      .execute()
  },
}
