import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Segments are now filled by the contacts' ids instead of their addresses: a filling that is under way begins anew. */
export const fillByContact: Migration = {
  async up(db: Kysely<Tables>) {
    await db.updateTable('segments').set({ cursor: '' }).execute()
  },
}
