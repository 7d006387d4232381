import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/**
 * How many have left each topic, and how many joined and left a list on each day, so that no page has to count them.
 */
export const peopleCounts: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .alterTable('topics')
      .addColumn('opted_out', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db
      .updateTable('topics')
      .set(({ selectFrom }) => ({
        opted_out: selectFrom('topic_opt_outs')
          .select(({ fn }) => fn.countAll<number>().as('left'))
          .whereRef('topic_id', '=', 'topics.id'),
      }))
      .execute()
    await db.schema
      .createTable('list_days')
      .addColumn('list_id', 'text', (column) => column.notNull().references('contact_lists.id'))
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('joined', 'integer', (column) => column.notNull())
      .addColumn('gone', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('list_days_key', ['list_id', 'day'])
      .modifyEnd(clustered)
      .execute()
  },
}
