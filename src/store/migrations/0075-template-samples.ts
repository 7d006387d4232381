import type { Kysely } from 'kysely'

/** The values with which the page of a template shows what it makes. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('templates').addColumn('samples', 'text').execute()
}
