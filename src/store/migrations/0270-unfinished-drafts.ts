import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What of a draft's blocks is not finished yet is kept beside what is. */
export const unfinishedDrafts: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcasts').addColumn('unfinished', 'text').execute()
  },
}
