import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** What automations have made in the last 60 minutes, by the minute; and starts that were not long ago. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_hours')
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('minute', 'integer', (c) => c.notNull())
    .addColumn('mails', 'integer', (c) => c.notNull())
    .addColumn('last_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('automation_hours_pk', ['automation_id', 'minute'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  const entries = () => schema.alterTable('automation_entries')
  // Null where the last start is the only one of its hour, as almost all are.
  await entries().addColumn('starts', 'text').execute()
  await entries().dropColumn('hour_at').execute()
  await entries().dropColumn('hour_runs').execute()
  const automations = () => schema.alterTable('automations')
  await automations().dropColumn('hour_from').execute()
  await automations().dropColumn('hour_mails').execute()
}
