import type { Kysely } from 'kysely'

/** Whose mail a site refused for our address: the domains of one account say nothing of what others think of us. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('egress').addColumn('account_id', 'text').execute()
}
