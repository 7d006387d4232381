import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** How many of the duties each node takes, beside the others; and the files of imports, for all nodes. */
export const sharedByNodes: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .alterTable('nodes')
      .addColumn('weight', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
    await schema
      .createTable('import_pieces')
      .addColumn('task_id', 'integer', (column) =>
        column.notNull().references('tasks.id').onDelete('cascade'),
      )
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('bytes', 'blob', (column) => column.notNull())
      .addPrimaryKeyConstraint('import_pieces_key', ['task_id', 'at'])
      .modifyEnd(clustered)
      .execute()
  },
}
