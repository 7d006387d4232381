import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What a node has noticed of a loss of commits is said to the others, too. */
export const markedLoss: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const column of ['went_back_at', 'went_back_ms']) {
      await schema.alterTable('appliance').addColumn(column, 'integer').execute()
    }
  },
}
