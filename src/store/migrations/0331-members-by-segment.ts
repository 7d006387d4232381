import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Members are found by segment and contact together; the index by contact alone was a third of what changes wrote. */
export const membersBySegment: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.dropIndex('segment_members_contact').execute()
  },
}
