import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Why each contact left by a campaign, as they said it. */
export const whyLeftBy: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_people').addColumn('why_left', 'text').execute()
  },
}
