import { type Kysely, sql } from 'kysely'

/** Reports that cannot be filed wait for the operator, apart from those that are to be read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema.alterTable('inbound_spool').addColumn('parked_at', 'integer').execute()
  await schema.alterTable('inbound_spool').addColumn('fault', 'text').execute()
  await schema
    .createIndex('inbound_spool_parked')
    .on('inbound_spool')
    .column('parked_at')
    .where(sql.ref('parked_at'), 'is not', null)
    .execute()
}
