import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What of a version's blocks is not finished yet is kept beside what is, as that of its draft. */
export const unfinishedVersions: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_variants').addColumn('unfinished', 'text').execute()
  },
}
