import { type Kysely, sql } from 'kysely'

/**
 * Deliveries that an operator, or the rule for what is long overdue at the start, holds back. Both
 * indices hold few rows: what is held, and the mails that are still scheduled.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema.alterTable('queue').addColumn('held_at', 'integer').execute()
  await schema.alterTable('queue').addColumn('held_reason', 'text').execute()
  await schema.alterTable('queue').addColumn('held_due_at', 'integer').execute()
  await schema
    .createIndex('queue_held')
    .on('queue')
    .column('held_at')
    .where(sql.ref('held_at'), 'is not', null)
    .execute()
  await schema
    .createIndex('emails_scheduled')
    .on('emails')
    .column('scheduled_at')
    .where(sql.ref('status'), '=', sql.lit('scheduled'))
    .execute()
}
