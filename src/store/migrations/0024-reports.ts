import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What reports have told of a delivery, whom protection has counted, and who handed a report in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('delivery_reports')
    .addColumn('delivery_id', 'integer', (c) => c.primaryKey())
    .addColumn('delays', 'text', (c) => c.notNull())
    .addColumn('bounce', 'integer', (c) => c.notNull())
    .addColumn('complaint', 'integer', (c) => c.notNull())
    .addColumn('unsubscribed', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('protection_addresses')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('protection_addresses_key', ['account_id', 'kind', 'address'])
    .modifyEnd(sql`strict, without rowid`)
    .execute()
  await schema
    .createIndex('protection_addresses_hour')
    .on('protection_addresses')
    .column('hour')
    .execute()
  for (const table of ['protection', 'protection_hours']) {
    await schema
      .alterTable(table)
      .addColumn('unproved', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  }
  for (const column of ['mail_from', 'helo']) {
    await schema
      .alterTable('inbound_spool')
      .addColumn(column, 'text', (c) => c.notNull().defaultTo(''))
      .execute()
  }
}
