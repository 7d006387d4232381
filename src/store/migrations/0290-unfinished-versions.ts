import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** The unfinished blocks of a version are kept beside the finished ones, as for its draft. */
export const unfinishedVersions: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_variants').addColumn('unfinished', 'text').execute()
  },
}
