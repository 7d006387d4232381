import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Mails that an erasure has to look at again. */
export const erasureMails: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('erasure_mails')
      .addColumn('task_id', 'integer', (column) =>
        column.notNull().references('tasks.id').onDelete('cascade'),
      )
      .addColumn('email_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('erasure_mails_key', ['task_id', 'email_id'])
      .modifyEnd(clustered)
      .execute()
  },
}
