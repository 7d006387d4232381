import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** The unfinished blocks of a draft are kept beside the finished ones. */
export const unfinishedDrafts: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcasts').addColumn('unfinished', 'text').execute()
  },
}
