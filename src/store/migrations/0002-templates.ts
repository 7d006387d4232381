import type { Kysely } from 'kysely'
import { strict } from '../sqlite/ddl.js'

/** Templates and their versions; the highest version is the one in use. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema
    .createTable('templates')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    // Compared byte by byte, as SQLite and PostgreSQL both do by default: slugs are case-sensitive.
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addUniqueConstraint('templates_account_slug', ['account_id', 'slug'])
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('template_versions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('template_id', 'text', (c) =>
      c.notNull().references('templates.id').onDelete('cascade'),
    )
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('html', 'text', (c) => c.notNull())
    .addColumn('text', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addUniqueConstraint('template_versions_version', ['template_id', 'version'])
    .modifyEnd(strict)
    .execute()
}
