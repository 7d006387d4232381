import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

const counters = ['recipients', 'bounces', 'complaints'] as const
const withMarketing = [...counters, ...counters.map((name) => `marketing_${name}` as const)]
const withoutRowid = sql`strict, without rowid`

/** What account protection counts, and what came of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  let standing = schema
    .createTable('protection')
    .addColumn('account_id', 'text', (c) => c.primaryKey())
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addColumn('bounce_warned_at', 'integer')
    .addColumn('complaint_warned_at', 'integer')
  let hours = schema
    .createTable('protection_hours')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('protection_hours_key', ['account_id', 'hour'])
  for (const counter of withMarketing) {
    standing = standing.addColumn(counter, 'integer', (c) => c.notNull())
    hours = hours.addColumn(counter, 'integer', (c) => c.notNull())
  }
  let providers = schema
    .createTable('protection_providers')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('provider', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('protection_providers_key', ['account_id', 'day', 'provider'])
  for (const counter of counters) {
    providers = providers.addColumn(counter, 'integer', (c) => c.notNull())
  }
  await standing.modifyEnd(withoutRowid).execute()
  await hours.modifyEnd(withoutRowid).execute()
  await providers.modifyEnd(withoutRowid).execute()
  await schema
    .createTable('protection_audit')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('who', 'text', (c) => c.notNull())
    .addColumn('note', 'text')
    .addColumn('totals', 'text', (c) => c.notNull())
    .addColumn('announced', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('protection_audit_account')
    .on('protection_audit')
    .columns(['account_id', 'id'])
    .execute()
  await schema
    .createIndex('protection_audit_unannounced')
    .on('protection_audit')
    .column('id')
    .where(sql.ref('announced'), '=', sql.lit(0))
    .execute()
}
