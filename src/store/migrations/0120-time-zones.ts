import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** The zone in which a person reads times; null until it is known. */
export const timeZones: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('users').addColumn('time_zone', 'text').execute()
  },
}
