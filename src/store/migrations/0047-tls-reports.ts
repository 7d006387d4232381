import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Sessions by how their TLS went, and the reports about them (RFC 8460). Retention deletes by `day`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  const details = ['policy_type', 'policy', 'result', 'reason'] as const
  const ends = ['mx_host', 'mx_name', 'receiving_address', 'sending_address'] as const
  let sessions = schema
    .createTable('tls_sessions')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull())
  for (const name of [...details, ...ends]) {
    sessions = sessions.addColumn(name, 'text', (c) => c.notNull())
  }
  await sessions
    .addColumn('sessions', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('tls_sessions_key', ['day', 'domain', ...details, ...ends] as never)
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('tls_reports')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull())
    .addColumn('report_id', 'text', (c) => c.notNull())
    .addColumn('decided_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('tls_reports_key', ['day', 'domain'] as never)
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('tls_report_posts')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull())
    .addColumn('uri', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('tries', 'integer', (c) => c.notNull())
    .addColumn('next_at', 'integer', (c) => c.notNull())
    .addColumn('cause', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('tls_report_posts_key', ['day', 'domain', 'uri'] as never)
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createIndex('tls_report_posts_email')
    .on('tls_report_posts')
    .column('email_id')
    .where('email_id', 'is not', null)
    .execute()
}
