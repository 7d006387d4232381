import type { Kysely } from 'kysely'

/** Which servers put a mail off: the others are asked first next time. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('queue').addColumn('put_off_by', 'text').execute()
}
