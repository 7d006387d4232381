import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/**
 * Lists that want a confirmation from whoever is put on them, and the form by which an account's own requests ask for
 * it.
 */
export const doubleOptIn: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('contact_lists')
      .addColumn('double_opt_in', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('forms')
      .addColumn('kind', 'text', (column) => column.notNull().defaultTo('page'))
      .execute()
  },
}
