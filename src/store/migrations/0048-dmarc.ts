import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** What receivers report of mail from our domains: DMARC (RFC 7489) and TLS (RFC 8460). */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  const reports = (table: 'dmarc_reports' | 'tls_reports_received') =>
    schema
      .createTable(table)
      .addColumn('domain_id', 'text', (c) =>
        c.notNull().references('domains.id').onDelete('cascade'),
      )
      .addColumn('reporter', 'text', (c) => c.notNull())
      .addColumn('proof', 'text', (c) => c.notNull())
      .addColumn('report_id', 'text', (c) => c.notNull())
      .addColumn('day', 'integer', (c) => c.notNull())
      .addColumn('begins_at', 'integer', (c) => c.notNull())
      .addColumn('ends_at', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, [
        ...(['domain_id', 'reporter', 'proof', 'report_id'] as never[]),
      ])
  await reports('dmarc_reports')
    .addColumn('policy', 'text', (c) => c.notNull())
    .addColumn('messages', 'integer', (c) => c.notNull())
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await reports('tls_reports_received')
    .addColumn('successes', 'integer', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('failure_types', 'text', (c) => c.notNull())
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  const key = ['domain_id', 'day', 'source', 'reporter', 'proven', 'disposition', 'dkim', 'spf']
  await schema
    .createTable('dmarc_sources')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('reporter', 'text', (c) => c.notNull())
    .addColumn('proven', 'integer', (c) => c.notNull())
    .addColumn('disposition', 'text', (c) => c.notNull())
    .addColumn('dkim', 'integer', (c) => c.notNull())
    .addColumn('spf', 'integer', (c) => c.notNull())
    .addColumn('forwarded', 'integer', (c) => c.notNull())
    .addColumn('messages', 'integer', (c) => c.notNull())
    .addColumn('identifiers', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('dmarc_sources_key', [...key, 'forwarded'] as never)
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('dmarc_hosts')
    .addColumn('address', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  // By which retention deletes.
  for (const table of ['dmarc_reports', 'tls_reports_received', 'dmarc_sources', 'dmarc_hosts']) {
    await schema.createIndex(`${table}_day`).on(table).column('day').execute()
  }
}
