import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** How far a campaign's test has been drawn from its audience, so that it gets the right number of people. */
export const testDraws: Migration = {
  async up(db: Kysely<Tables>) {
    for (const name of ['test_seen', 'test_drawn'] as const) {
      await db.schema
        .alterTable('broadcasts')
        .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
    // For a test that is being made, the number of people seen follows from its share.
    const made = await db
      .selectFrom('broadcasts')
      .select(['id', 'variant_test', 'recipients'])
      .where('status', 'in', ['sending', 'paused'])
      .where('variant_test', 'is not', null)
      .where('recipients', '>', 0)
      .where('winner', 'is', null)
      .execute()
    for (const { id, variant_test, recipients } of made) {
      const { share } = JSON.parse(variant_test ?? '{}') as { share?: number }
      const seen = Math.round((recipients * 100) / (share ?? 100))
      await db
        .updateTable('broadcasts')
        .set({ test_seen: seen, test_drawn: recipients })
        .where('id', '=', id)
        .execute()
    }
  },
}
