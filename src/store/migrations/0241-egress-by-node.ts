import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/**
 * Each machine has its own way out: what each node has seen of it. The operator's word is for all nodes, stored at none
 * (0).
 */
export const egressByNode: Migration = {
  async up(db: Kysely<Tables>) {
    const { schema } = db
    const before = await db
      .selectFrom('egress')
      .select([
        ...(['scope', 'orders', 'way', 'why', 'cause', 'since', 'until', 'at'] as const),
        ...(['passed', 'relapses', 'account_id'] as const),
      ])
      .execute()
    await schema.dropTable('egress').execute()
    await schema
      .createTable('egress')
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('node', 'integer', (column) => column.notNull())
      .addColumn('orders', 'text', (column) => column.notNull())
      .addColumn('way', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addColumn('cause', 'text', (column) => column.notNull())
      .addColumn('since', 'integer', (column) => column.notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('passed', 'integer', (column) => column.notNull())
      .addColumn('relapses', 'integer', (column) => column.notNull())
      .addColumn('account_id', 'text')
      .addPrimaryKeyConstraint('egress_key', ['scope', 'node'])
      .modifyEnd(plain)
      .execute()
    for (const row of before) {
      const { orders } = row
      await db
        .insertInto('egress')
        .values({ ...row, node: 1, orders: 'auto' })
        .execute()
      if (orders === 'auto') continue
      await db
        .insertInto('egress')
        .values({ ...row, node: 0, way: 'primary' })
        .execute()
    }
    // This evidence is only minutes old, and will come again.
    await schema.dropTable('egress_unreached').execute()
    await schema
      .createTable('egress_unreached')
      .addColumn('node', 'integer', (column) => column.notNull())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('egress_unreached_key', ['node', 'site', 'account_id'])
      .modifyEnd(clustered)
      .execute()
  },
}
