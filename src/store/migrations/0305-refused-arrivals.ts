import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** The incoming mail that an account's plan caused to be refused, so that its owners hear of it. */
export const refusedArrivals: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('refused_arrivals')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addColumn('first_at', 'integer', (column) => column.notNull())
      .addColumn('last_at', 'integer', (column) => column.notNull())
      .addColumn('mails', 'integer', (column) => column.notNull())
      .addColumn('told_at', 'integer')
      .addPrimaryKeyConstraint('refused_arrivals_key', ['account_id', 'why'])
      .modifyEnd(clustered)
      .execute()
  },
}
