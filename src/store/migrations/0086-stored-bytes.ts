import { type Kysely, sql } from 'kysely'

/** What each account stores, counted as it changes; and when a draft was last changed, for those that are forgotten. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stored_bytes')
    .addColumn('account_id', 'text', (c) => c.primaryKey())
    .addColumn('contents', 'integer', (c) => c.notNull())
    .addColumn('templates', 'integer', (c) => c.notNull())
    .addColumn('campaigns', 'integer', (c) => c.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute()
  await sql`insert into stored_bytes (account_id, contents, templates, campaigns)
    select account_id, sum(contents), sum(templates), sum(campaigns) from (
      select account_id, size_bytes as contents, 0 as templates, 0 as campaigns from contents
      union all
      select t.account_id, 0,
        octet_length(v.subject) + octet_length(v.html) + coalesce(octet_length(v.text), 0), 0
      from template_versions as v join templates as t on t.id = v.template_id
      union all
      select c.account_id, 0, 0, octet_length(b.html)
      from broadcasts as c join bodies as b on b.id = c.body_id where b.html is not null
    ) group by account_id`.execute(db)
  await db.schema
    .alterTable('retention_state')
    .addColumn('early_through', 'text', (c) => c.notNull().defaultTo(''))
    .execute()
  await sql`update retention_state set early_through = bodies_through`.execute(db)
  await db.schema.alterTable('broadcasts').addColumn('changed_at', 'integer').execute()
}
