import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** At which mailbox provider each person of a campaign is, as its figures count them. */
export const providerOfPeople: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_people').addColumn('provider', 'text').execute()
  },
}
