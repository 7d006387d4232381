import type { Kysely, Migration } from 'kysely'
import { unlogged } from '../postgres/make-tables.js'
import { isRemote } from '../running.js'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** What several nodes count together: answered challenges, failed log-ins, requests. */
export const countedTogether: Migration = {
  async up(db: Kysely<Tables>) {
    const { schema } = db
    await schema
      .createTable('used_challenges')
      .addColumn('challenge', 'text', (column) => column.primaryKey().notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('used_challenges_until')
      .on('used_challenges')
      .columns(['until', 'challenge'])
      .execute()
    await schema
      .createTable('failed_attempts')
      .addColumn('key', 'text', (column) => column.primaryKey().notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('last_at', 'integer', (column) => column.notNull())
      .addColumn('blocked_until', 'integer', (column) => column.notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('failed_attempts_until')
      .on('failed_attempts')
      .columns(['until', 'key'])
      .execute()
    const rates = schema
      .createTable('rates')
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('ends_at', 'integer', (column) => column.notNull())
      .addColumn('node', 'integer', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('rates_key', ['key', 'ends_at', 'node'])
      .modifyEnd(clustered)
    await (isRemote(db) ? rates.modifyFront(unlogged) : rates).execute()
    await schema.createIndex('rates_end').on('rates').columns(['ends_at', 'key', 'node']).execute()
  },
}
