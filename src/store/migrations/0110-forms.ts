import { type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Forms with double opt-in, and how an account looks. */
export const forms: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await makeForms(schema)
    await makeCounts(schema)
    await makeEntries(schema)
    await schema
      .createTable('brands')
      .addColumn('account_id', 'text', (column) => column.primaryKey().references('accounts.id'))
      .addColumn('colours', 'text', (column) => column.notNull())
      .addColumn('postal_address', 'text', (column) => column.notNull())
      .addColumn('languages', 'text', (column) => column.notNull())
      .addColumn('sender_name', 'text', (column) => column.notNull())
      .addColumn('default_from', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'integer', (column) => column.notNull())
      .modifyEnd(plain)
      .execute()
  },
}

type Schema = Kysely<Tables>['schema']

async function makeForms(schema: Schema): Promise<void> {
  await schema
    .createTable('forms')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('public_id', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('archived_at', 'integer')
    .addColumn('careful_at', 'integer')
    .addColumn('stopped_at', 'integer')
    .addColumn('shown', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('sent_in', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('confirmed', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('held_back', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .modifyEnd(plain)
    .execute()
  await schema.createIndex('forms_account').on('forms').columns(['account_id', 'id']).execute()
}

async function makeCounts(schema: Schema): Promise<void> {
  await schema
    .createTable('form_held')
    .addColumn('form_id', 'text', (column) =>
      column.notNull().references('forms.id').onDelete('cascade'),
    )
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('held', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('form_held_key', ['form_id', 'reason'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('form_days')
    .addColumn('form_id', 'text', (column) =>
      column.notNull().references('forms.id').onDelete('cascade'),
    )
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('mails', 'integer', (column) => column.notNull())
    .addColumn('bounces', 'integer', (column) => column.notNull())
    .addColumn('complaints', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('form_days_key', ['form_id', 'day'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('form_addresses')
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('address_hash', 'text', (column) => column.notNull())
    .addColumn('mails', 'integer', (column) => column.notNull())
    .addColumn('last_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('form_addresses_key', ['account_id', 'address_hash'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('form_addresses_age').on('form_addresses').column('last_at').execute()
}

async function makeEntries(schema: Schema): Promise<void> {
  await schema
    .createTable('form_entries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('form_id', 'text', (column) =>
      column.notNull().references('forms.id').onDelete('cascade'),
    )
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('fields', 'text', (column) => column.notNull())
    .addColumn('consent', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('email_id', 'text')
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('confirmed_at', 'integer')
    .addColumn('expires_at', 'integer', (column) => column.notNull())
    .addColumn('remind_at', 'integer')
    .modifyEnd(plain)
    .execute()
  const index = (name: string) => schema.createIndex(name).on('form_entries')
  await index('form_entries_address').columns(['account_id', 'address']).execute()
  await index('form_entries_expiry').column('expires_at').execute()
  await index('form_entries_mail')
    .column('email_id')
    .where(sql<boolean>`${sql.ref('email_id')} is not null`)
    .execute()
  await index('form_entries_reminder')
    .column('remind_at')
    .where(sql<boolean>`${sql.ref('remind_at')} is not null`)
    .execute()
}
