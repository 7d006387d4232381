import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Segments are filled by the contacts' ids, and were by their addresses: one that is being filled begins anew. */
export const fillByContact: Migration = {
  async up(db: Kysely<Tables>) {
    await db.updateTable('segments').set({ cursor: '' }).execute()
  },
}
