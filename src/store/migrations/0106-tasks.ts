import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Long work of accounts, imports first. */
export const tasks: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('contact_imports').addColumn('agreed', 'text').execute()
    await schema
      .createTable('tasks')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('done', 'integer', (column) => column.notNull())
      .addColumn('total', 'integer', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('result', 'text')
      .addColumn('started_by', 'text', (column) => column.notNull())
      .addColumn('begun_at', 'integer', (column) => column.notNull())
      .addColumn('ended_at', 'integer')
      .modifyEnd(plain)
      .execute()
    await schema.createIndex('tasks_account').on('tasks').columns(['account_id', 'id']).execute()
    await schema
      .createIndex('tasks_live')
      .on('tasks')
      .column('id')
      .where(sql<boolean>`${sql.ref('ended_at')} is null`)
      .execute()
    await schema
      .createTable('import_refusals')
      .addColumn('task_id', 'integer', (column) =>
        column.notNull().references('tasks.id').onDelete('cascade'),
      )
      .addColumn('line', 'integer', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('cells', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('import_refusals_key', ['task_id', 'line'])
      .modifyEnd(clustered)
      .execute()
  },
}
