import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** When somebody last changed a contact; null: nobody has since it was made, or since this migration. */
export const contactChanges: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('contacts').addColumn('changed_at', 'integer').execute()
  },
}
