import type { Kysely } from 'kysely'

/** The source address from which a delivery was put off: greylists know the client by it. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('queue').addColumn('source', 'text').execute()
}
