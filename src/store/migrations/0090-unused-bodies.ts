import { type Kysely, sql } from 'kysely'

/** Bodies that no mail has any more, for retention, which asks whether anybody names them. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('body_uses_none')
    .on('body_uses')
    .columns(['body_id'])
    .where(sql.ref('uses'), '<=', sql.lit(0))
    .execute()
}
