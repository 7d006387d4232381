import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Addresses that were erased, as keyed hashes. */
export const erasures: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('erasure_keys')
      .addColumn('account_id', 'text', (column) =>
        column.primaryKey().notNull().references('accounts.id'),
      )
      .addColumn('key', 'text', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
    await schema
      .createTable('erasures')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('erased_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('erasures_key', ['account_id', 'hash'])
      .modifyEnd(clustered)
      .execute()
  },
}
