import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What the HTML of a template's version, or of a campaign, was made of. */
export const blocks: Migration = {
  async up(db: Kysely<Tables>) {
    for (const table of ['template_versions', 'broadcasts'] as const) {
      await db.schema.alterTable(table).addColumn('blocks', 'text').execute()
    }
  },
}
