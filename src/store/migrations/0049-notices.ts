import { type Kysely, sql } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What the operator is told of, and the mails in which that was. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('notices')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('severity', 'text', (c) => c.notNull())
    .addColumn('stage', 'text', (c) => c.notNull())
    .addColumn('text', 'text', (c) => c.notNull())
    .addColumn('fix', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('count', 'integer', (c) => c.notNull())
    .addColumn('first_at', 'integer', (c) => c.notNull())
    .addColumn('last_at', 'integer', (c) => c.notNull())
    .addColumn('staged_at', 'integer', (c) => c.notNull())
    .addColumn('settled_at', 'integer')
    .addColumn('urgent', 'integer', (c) => c.notNull())
    .addColumn('urgent_at', 'integer')
    .addColumn('fresh', 'integer', (c) => c.notNull())
    .addColumn('told_at', 'integer')
    .addColumn('silenced_until', 'integer')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('notices_open')
    .on('notices')
    .columns(['kind', 'key'])
    .where(sql.ref('state'), '=', sql.lit('open'))
    .unique()
    .execute()
  await schema.createIndex('notices_of').on('notices').columns(['kind', 'key', 'id']).execute()
  await schema.createIndex('notices_state').on('notices').columns(['state', 'id']).execute()
  await schema
    .createTable('notice_mails')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('email_id', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('result', 'text', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
