import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/** Operators' orders for mail to a site: it waits, or leaves from another pool, until a time. */
export const siteOrders: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('site_orders')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('pool', 'text')
      .addColumn('account_id', 'text')
      .addColumn('class', 'integer')
      .addColumn('why', 'text', (column) => column.notNull())
      .addColumn('given_by', 'text', (column) => column.notNull())
      .addColumn('given_at', 'integer', (column) => column.notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .addColumn('ended_at', 'integer')
      .modifyEnd(plain)
      .execute()
    await schema
      .createIndex('site_orders_open')
      .on('site_orders')
      .columns(['until', 'id'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute()
  },
}
