import type { Kysely } from 'kysely'

/** Whose pause a campaign's is: what the operator has stopped, no account lets go on. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('broadcasts').addColumn('paused_by', 'text').execute()
}
