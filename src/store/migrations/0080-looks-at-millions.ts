import { type Kysely, sql } from 'kysely'

/** Of a million that wait: those that were tried, and those that are blocked for one reason, some at a time. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('webhook_jobs_tried')
    .on('webhook_jobs')
    .columns(['endpoint_id', 'id'])
    .where(sql.ref('attempts'), '>', sql.lit(0))
    .execute()
  await schema.dropIndex('automation_live_blocked').execute()
  await schema
    .createIndex('automation_live_blocked')
    .on('automation_live')
    .columns(['blocked', 'id'])
    .where(sql.ref('blocked'), 'is not', null)
    .execute()
}
