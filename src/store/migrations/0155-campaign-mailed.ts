import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Which recipients' mail of a campaign a server has accepted, noted once a segment asks for it. */
export const campaignMailed: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_people').addColumn('taken_at', 'integer').execute()
    await schema.alterTable('broadcasts').addColumn('mailed_through', 'text').execute()
    await schema
      .createIndex('broadcasts_mailed')
      .on('broadcasts')
      .column('mailed_through')
      .where(sql.ref('mailed_through'), '<>', 'all')
      .execute()
  },
}
