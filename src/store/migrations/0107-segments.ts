import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Saved rules about people, and the people who match them. */
export const segments: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('segments')
      .addColumn('id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('rule', 'text', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('unsubscribed', 'integer', (column) => column.notNull())
      .addColumn('bounced', 'integer', (column) => column.notNull())
      .addColumn('complained', 'integer', (column) => column.notNull())
      .addColumn('suppressed', 'integer', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('cursor', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('depth', 'integer', (column) => column.notNull())
      .addColumn('as_of', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
    await schema
      .createIndex('segments_account')
      .on('segments')
      .columns(['account_id', 'created_at', 'id'])
      .execute()
    await schema
      .createIndex('segments_state')
      .on('segments')
      .columns(['state', 'depth', 'id'])
      .execute()
    await schema.createIndex('segments_as_of').on('segments').column('as_of').execute()
    await schema
      .createTable('segment_members')
      .addColumn('segment_id', 'text', (column) => column.notNull().references('segments.id'))
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addColumn('since', 'integer', (column) => column.notNull())
      .addColumn('why', 'text')
      .addPrimaryKeyConstraint('segment_members_key', ['segment_id', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('segment_members_contact')
      .on('segment_members')
      .column('contact_id')
      .execute()
    await schema
      .createTable('segment_changes')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('contact_id', 'text')
      .modifyEnd(plain)
      .execute()
    await schema
      .createIndex('segment_changes_account')
      .on('segment_changes')
      .columns(['account_id', 'id'])
      .execute()
    await schema
      .createTable('segment_due')
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('segment_id', 'text', (column) => column.notNull())
      .addColumn('contact_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('segment_due_key', ['segment_id', 'contact_id'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('segment_due_at')
      .on('segment_due')
      .columns(['at', 'segment_id', 'contact_id'])
      .execute()
  },
}
