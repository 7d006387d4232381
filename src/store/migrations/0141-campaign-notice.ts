import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Why everybody must get a campaign, also people who have unsubscribed. */
export const campaignNotice: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('broadcasts').addColumn('notice_reason', 'text').execute()
  },
}
