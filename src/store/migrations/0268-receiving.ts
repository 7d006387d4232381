import { type Kysely, type Migration, sql } from 'kysely'
import { ownNode } from '../fragments.js'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** Mail that comes in for accounts: where it goes, and what has come. */
export const receiving: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema.alterTable('domains').addColumn('receiving_host', 'text').execute()
    await schema.alterTable('domains').addColumn('receiving_host_ready', 'integer').execute()
    await schema
      .createIndex('domains_receiving_host')
      .on('domains')
      .columns(['receiving_host'])
      .unique()
      .where(sql.ref('receiving_host'), 'is not', null)
      .execute()
    await makeRules(schema)
    await makeReceived(schema)
    await schema
      .createTable('received_headers')
      .addColumn('received_id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('header', 'blob', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
    await schema
      .createTable('received_texts')
      .addColumn('received_id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('text', 'text')
      .addColumn('quoted', 'text')
      .addColumn('html', 'text')
      .addColumn('headers', 'text', (column) => column.notNull())
      .addColumn('attachments', 'text', (column) => column.notNull())
      .addColumn('results', 'text', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
  },
}

type Schema = Kysely<Tables>['schema']

async function makeRules(schema: Schema): Promise<void> {
  await schema
    .createTable('receiving_rules')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('domain_id', 'text', (column) =>
      column.notNull().references('domains.id').onDelete('cascade'),
    )
    .addColumn('place', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('local', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('forward_to', 'text')
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .modifyEnd(plain)
    .execute()
  for (const owner of ['account', 'domain'] as const) {
    await schema
      .createIndex(`receiving_rules_${owner}`)
      .on('receiving_rules')
      .columns([`${owner}_id`, 'place', 'id'])
      .execute()
  }
}

async function makeReceived(schema: Schema): Promise<void> {
  await schema
    .createTable('received')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('domain_id', 'text', (column) => column.notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('forward_to', 'text')
    .addColumn('received_at', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'integer')
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('node', 'integer', (column) => column.notNull().defaultTo(ownNode))
    .addColumn('remote_address', 'text', (column) => column.notNull())
    .addColumn('helo', 'text', (column) => column.notNull())
    .addColumn('mail_from', 'text', (column) => column.notNull())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'integer', (column) => column.notNull())
    .addColumn('content_id', 'integer', (column) => column.notNull())
    .addColumn('body_bytes', 'integer', (column) => column.notNull())
    .addColumn('header_from', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('message_id', 'text', (column) => column.notNull())
    .addColumn('in_reply_to', 'text', (column) => column.notNull())
    .addColumn('email_id', 'text')
    .addColumn('attachments', 'integer', (column) => column.notNull())
    .addColumn('spf', 'text', (column) => column.notNull())
    .addColumn('dkim', 'text', (column) => column.notNull())
    .addColumn('dmarc', 'text', (column) => column.notNull())
    .addColumn('arc', 'text', (column) => column.notNull())
    .addColumn('automatic', 'text')
    .addColumn('is_loop', 'integer', (column) => column.notNull())
    .addColumn('spam', 'text')
    .addColumn('forward_id', 'text')
    .addColumn('forward_fault', 'text')
    .addColumn('fault', 'text')
    .modifyEnd(plain)
    .execute()
  await schema
    .createIndex('received_account')
    .on('received')
    .columns(['account_id', 'id'])
    .execute()
  await schema
    .createIndex('received_email')
    .on('received')
    .columns(['email_id', 'id'])
    .where(sql.ref('email_id'), 'is not', null)
    .execute()
  await schema
    .createIndex('received_waiting')
    .on('received')
    .columns(['node', 'due_at', 'id'])
    .where(sql.ref('due_at'), 'is not', null)
    .execute()
}
