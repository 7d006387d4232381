import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** The mailbox provider of each person of a campaign, as its figures count it. */
export const providerOfPeople: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_people').addColumn('provider', 'text').execute()
  },
}
