import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** What a mail to the operator says, for another way than the queue; and what the DNS said of each domain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  for (const name of ['text', 'html']) {
    await schema
      .alterTable('notice_mails')
      .addColumn(name, 'text', (c) => c.notNull().defaultTo(''))
      .execute()
  }
  await schema
    .createTable('record_checks')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('since', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('record_checks_key', ['domain_id', 'purpose'])
    .modifyEnd(strict)
    .execute()
}
