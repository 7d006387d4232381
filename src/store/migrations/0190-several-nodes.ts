import type { Kysely, Migration } from 'kysely'
import { ownNode } from '../fragments.js'
import { isRemote } from '../running.js'
import type { Tables } from '../schema/index.js'
import { plain } from '../sqlite/make-tables.js'

/**
 * Several appliances over one database: their numbers and epochs, which of them has each row of the queue, their
 * duties.
 */
export const severalNodes: Migration = {
  async up(db: Kysely<Tables>) {
    const { schema } = db
    for (const [column, fallback] of [
      ['number', 1],
      ['joins', 0],
      ['ended_well', 0],
      ['started_at', 0],
      ['draining', 0],
      ['clock_ahead_ms', 0],
      ['taken_over', 0],
    ] as const) {
      await schema
        .alterTable('nodes')
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(fallback))
        .execute()
    }
    await schema.alterTable('nodes').addColumn('gone_at', 'integer').execute()
    await schema
      .alterTable('nodes')
      .addColumn('plans', 'text', (c) => c.notNull().defaultTo(''))
      .execute()
    await schema
      .alterTable('appliance')
      .addColumn('last_epoch', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema
      .createTable('duties')
      .addColumn('name', 'text', (c) => c.primaryKey().notNull())
      .addColumn('epoch', 'integer', (c) => c.notNull())
      .addColumn('since', 'integer', (c) => c.notNull())
      .modifyEnd(plain)
      .execute()
    for (const table of ['queue', 'inbound_spool', 'tasks']) {
      await schema
        .alterTable(table)
        .addColumn('node', 'integer', (c) => c.notNull().defaultTo(ownNode))
        .execute()
    }
    await schema.dropIndex('queue_stream').execute()
    const stream = ['node', 'lane', 'class', 'account_id', 'due_at']
    await schema
      .createIndex('queue_stream')
      .on('queue')
      // In SQLite each index already ends with the row's number, and naming it would write it twice.
      .columns(isRemote(db) ? [...stream, 'id'] : stream)
      .execute()
  },
}
