import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** The results of the rest of a campaign's audience, apart from the people on whom its versions were tried. */
export const restOfVersions: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('broadcast_variants').addColumn('rest_after', 'text').execute()
    for (const counter of ['mails', 'arrived', 'opened', 'clicked'] as const) {
      await schema
        .alterTable('broadcast_variants')
        .addColumn(`rest_${counter}`, 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
  },
}
