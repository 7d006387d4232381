import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Campaigns in several versions, of which a part of the audience tries each. */
export const campaignVariants: Migration = {
  async up(db: Kysely<Tables>) {
    const columns = {
      variant_test: 'text',
      decide_at: 'integer',
      winner: 'text',
      decided_by: 'text',
      decided_at: 'integer',
    } as const
    for (const [name, type] of Object.entries(columns)) {
      await db.schema.alterTable('broadcasts').addColumn(name, type).execute()
    }
    await db.schema.alterTable('emails').addColumn('variant', 'text').execute()
    let table = db.schema
      .createTable('broadcast_variants')
      .addColumn('broadcast_id', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('subject', 'text')
      .addColumn('from_name', 'text')
      .addColumn('preview_text', 'text')
      .addColumn('blocks', 'text')
      .addColumn('body_id', 'integer')
    for (const counter of counters) {
      table = table.addColumn(counter, 'integer', (column) => column.notNull().defaultTo(0))
    }
    await table
      .addPrimaryKeyConstraint('broadcast_variants_key', ['broadcast_id', 'key'])
      .modifyEnd(clustered)
      .execute()
    await db.schema
      .createIndex('broadcast_variants_body')
      .on('broadcast_variants')
      .column('body_id')
      .execute()
  },
}

const counters = [
  ...(['recipients', 'delivered', 'relayed', 'bounced', 'failed', 'suppressed'] as const),
  ...(['opened', 'clicked'] as const),
]
