import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/**
 * The columns that every grouping of figures has; `stats/` sums them and names none of them itself.
 */
const counters = [
  'mails',
  'accepted',
  'suppressed',
  'answered',
  'delivered',
  'relayed',
  'bounced_hard',
  'bounced_soft',
  'failed',
  'deferred',
  'complained',
  'complained_unproved',
  'unsubscribed',
  'opened',
  'opened_unique',
  'opened_machine',
  'clicked',
  'clicked_unique',
  'clicked_machine',
]

/** Figures a day, and how far the logs are counted in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  let figures = schema
    .createTable('figures')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('breakdown', 'text', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('figures_key', [
      ...(['account_id', 'breakdown', 'day', 'domain', 'type', 'key'] as const),
    ])
  for (const counter of counters) {
    figures = figures.addColumn(counter, 'integer', (c) => c.notNull())
  }
  await figures.modifyEnd(sql`${strict}, ${withoutRowid}`).execute()
  await schema
    .createTable('figure_cursors')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('event_id', 'integer', (c) => c.notNull())
    .addColumn('consent_id', 'integer', (c) => c.notNull())
    .addColumn('mail_number', 'integer', (c) => c.notNull())
    .addColumn('mail_id', 'text', (c) => c.notNull())
    // Events up to this one do not say whether they were the first of their kind.
    .addColumn('untold_until', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await sql`
    insert into figure_cursors (id, event_id, consent_id, mail_number, mail_id, untold_until)
    select 1, 0, 0, 0, '', coalesce((select max(id) from events), 0)
  `.execute(db)
}
