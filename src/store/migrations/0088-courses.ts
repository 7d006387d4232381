import { type Kysely, sql } from 'kysely'

/**
 * How far the waiting mail of a campaign follows its last pause, resume or cancel, and the held runs of an automation
 * its last resume. What was broken off before this release is begun again by the first start of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('broadcasts')
    .addColumn('course', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('broadcasts').addColumn('course_at', 'integer').execute()
  await db.schema
    .createIndex('broadcasts_course')
    .on('broadcasts')
    .column('course_at')
    .where(sql.ref('course_at'), 'is not', null)
    .execute()
  await sql`update broadcasts set course_at = 0
    where status in ('sending', 'paused', 'cancelled') and waiting > 0`.execute(db)
  await db.schema.alterTable('automations').addColumn('releasing', 'text').execute()
  await db.schema.alterTable('automations').addColumn('releasing_at', 'integer').execute()
  await db.schema
    .createIndex('automations_releasing')
    .on('automations')
    .column('releasing_at')
    .where(sql.ref('releasing_at'), 'is not', null)
    .execute()
}
