import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** What the HTML of a template's version was made of. */
export const blocks: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('template_versions').addColumn('blocks', 'text').execute()
  },
}
