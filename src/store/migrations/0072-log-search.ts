import { type Kysely, sql } from 'kysely'

/**
 * What people look for in the log: mails of a step of an automation, mails that are scheduled, and what of an
 * account waits and why. Each holds few rows, and a plain mail that leaves at its first attempt is in none.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('emails_automation')
    .on('emails')
    .columns(['automation_step_id', 'id'])
    .where(sql.ref('automation_step_id'), 'is not', null)
    .execute()
  await schema
    .createIndex('emails_scheduled_account')
    .on('emails')
    .columns(['account_id', 'id', 'scheduled_at'])
    .where(sql.ref('status'), '=', sql.lit('scheduled'))
    .execute()
  await schema
    .createIndex('queue_put_off')
    .on('queue')
    .columns(['account_id', 'lane', 'id'])
    .where(sql<boolean>`attempts > 0 or held_at is not null`)
    .execute()
}
