import type { Kysely } from 'kysely'

/** Of a campaign's mails that bounced: those that a server or smart host had taken before, which rates go on counting. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('broadcasts')
    .addColumn('bounced_late', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
