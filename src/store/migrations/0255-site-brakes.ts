import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** Campaign mail that is sent more slowly to a site, and how attempts there usually end. */
export const siteBrakes: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('site_brakes')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('percent', 'integer', (column) => column.notNull())
      .addColumn('began_at', 'integer', (column) => column.notNull())
      .addColumn('since', 'integer', (column) => column.notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .addColumn('waits', 'integer', (column) => column.notNull())
      .addColumn('per_minute', 'integer', (column) => column.notNull())
      .addColumn('step_ms', 'integer', (column) => column.notNull())
      .addColumn('wait_ms', 'integer', (column) => column.notNull())
      .addColumn('cause', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('site_brakes_key', ['site', 'source'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createTable('site_days')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('tried', 'integer', (column) => column.notNull())
      .addColumn('delivered', 'integer', (column) => column.notNull())
      .addColumn('deferred', 'integer', (column) => column.notNull())
      .addColumn('blocked', 'integer', (column) => column.notNull())
      .addColumn('complained', 'integer', (column) => column.notNull())
      .addColumn('busy_ms', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('site_days_key', ['site', 'source', 'day'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createTable('host_complaints')
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('domain', 'text', (column) => column.notNull())
      .addColumn('complained', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('host_complaints_key', ['host', 'domain'])
      .modifyEnd(clustered)
      .execute()
  },
}
