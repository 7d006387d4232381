import type { Kysely } from 'kysely'

/** The language of footers and of the pages where recipients unsubscribe; null: English. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('accounts').addColumn('language', 'text').execute()
}
