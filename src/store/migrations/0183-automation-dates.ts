import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Automations that begin on a day in a contact's field, and when each begins for each contact. */
export const automationDates: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('automation_dates')
      .addColumn('automation_id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('rule', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('cursor', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
    await schema
      .createIndex('automation_dates_account')
      .on('automation_dates')
      .columns(['account_id', 'state', 'automation_id'])
      .execute()
    await schema
      .createIndex('automation_dates_state')
      .on('automation_dates')
      .columns(['state', 'automation_id'])
      .execute()
    await schema
      .createTable('automation_date_due')
      .addColumn('automation_id', 'text', (column) => column.notNull())
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addColumn('at', 'integer')
      .addColumn('done', 'text')
      .addPrimaryKeyConstraint('automation_date_due_key', ['automation_id', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('automation_date_due_at')
      .on('automation_date_due')
      .columns(['at', 'automation_id', 'contact_id'])
      .execute()
    await schema
      .createIndex('automation_date_due_contact')
      .on('automation_date_due')
      .columns(['contact_id', 'automation_id'])
      .execute()
  },
}
