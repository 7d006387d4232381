import type { Kysely } from 'kysely'

/** What an endpoint answered last to an event that is tried again: who mends it looks then, not after the end. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  for (const [name, type] of [
    ['status', 'integer'],
    ['response', 'text'],
    ['error', 'text'],
    ['tried_at', 'integer'],
  ] as const) {
    await schema.alterTable('webhook_jobs').addColumn(name, type).execute()
  }
}
