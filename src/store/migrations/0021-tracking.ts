import type { Kysely } from 'kysely'

/** Whether opens and clicks are tracked, by account and by domain, and a domain's host for links. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['accounts', 'domains']) {
    for (const column of ['track_opens', 'track_clicks']) {
      await db.schema.alterTable(table).addColumn(column, 'integer').execute()
    }
  }
  await db.schema.alterTable('domains').addColumn('tracking_host', 'text').execute()
  await db.schema.alterTable('domains').addColumn('tracking_host_ready', 'integer').execute()
}
