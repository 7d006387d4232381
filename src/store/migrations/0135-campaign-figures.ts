import { type CreateTableBuilder, type Kysely, type Migration, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered, plain } from '../sqlite/make-tables.js'

/** What became of each campaign; older campaigns are counted from the logs bit by bit after the start. */
export const campaignFigures: Migration = {
  async up(db: Kysely<Tables>) {
    await byCount(db, 'broadcast_hours', ['at', 'integer'])
    await byCount(db, 'broadcast_providers', ['provider', 'text'])
    await reasons(db)
    await people(db)
    const cursors = ['campaign_event_id', 'campaign_event_until']
    for (const column of [...cursors, 'campaign_consent_id', 'campaign_consent_until']) {
      await db.schema
        .alterTable('figure_cursors')
        .addColumn(column, 'integer', (added) => added.notNull().defaultTo(0))
        .execute()
    }
    await db
      .updateTable('figure_cursors')
      .set({
        campaign_event_until: sql<number>`event_id`,
        campaign_consent_until: sql<number>`consent_id`,
      })
      .execute()
  },
}

const counters = [
  ...(['mails', 'accepted', 'suppressed', 'answered', 'delivered', 'relayed'] as const),
  ...(['bounced_hard', 'bounced_soft', 'failed', 'deferred', 'complained'] as const),
  ...(['complained_unproved', 'unsubscribed', 'opened', 'opened_unique'] as const),
  ...(['opened_machine', 'clicked', 'clicked_unique', 'clicked_machine'] as const),
]

async function byCount(
  { schema }: Kysely<Tables>,
  name: string,
  [key, type]: [string, 'integer' | 'text'],
) {
  let table: CreateTableBuilder<string, string> = schema
    .createTable(name)
    .addColumn('broadcast_id', 'text', (column) => column.notNull())
    .addColumn(key, type, (column) => column.notNull())
  for (const counter of counters) {
    table = table.addColumn(counter, 'integer', (column) => column.notNull())
  }
  await table
    .addPrimaryKeyConstraint(`${name}_key`, ['broadcast_id', key])
    .modifyEnd(clustered)
    .execute()
}

async function reasons({ schema }: Kysely<Tables>) {
  await schema
    .createTable('broadcast_links')
    .addColumn('broadcast_id', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('clicked', 'integer', (column) => column.notNull())
    .addColumn('people', 'integer', (column) => column.notNull())
    .addColumn('clicked_machine', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('broadcast_links_key', ['broadcast_id', 'number'])
    .addUniqueConstraint('broadcast_links_broadcast_id_url', ['broadcast_id', 'url'])
    .modifyEnd(plain)
    .execute()
  await schema
    .createTable('broadcast_link_people')
    .addColumn('broadcast_id', 'text', (column) => column.notNull())
    .addColumn('link', 'integer', (column) => column.notNull())
    .addColumn('contact_id', 'text', (column) =>
      column.notNull().references('contacts.id').onDelete('cascade'),
    )
    .addColumn('at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('broadcast_link_people_key', ['broadcast_id', 'link', 'contact_id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('broadcast_link_people_contact')
    .on('broadcast_link_people')
    .column('contact_id')
    .execute()
  const key = ['broadcast_id', 'kind', 'class', 'words'] as const
  await schema
    .createTable('broadcast_bounces')
    .addColumn('broadcast_id', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('class', 'text', (column) => column.notNull())
    .addColumn('words', 'text', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('broadcast_bounces_key', ['broadcast_id', 'number'])
    .addUniqueConstraint(`broadcast_bounces_${key.join('_')}`, [...key])
    .modifyEnd(plain)
    .execute()
}

async function people({ schema }: Kysely<Tables>) {
  await schema
    .createTable('broadcast_people')
    .addColumn('contact_id', 'text', (column) =>
      column.notNull().references('contacts.id').onDelete('cascade'),
    )
    .addColumn('broadcast_id', 'text', (column) => column.notNull())
    .addColumn('email_id', 'text', (column) => column.notNull())
    .addColumn('opened_at', 'integer')
    .addColumn('clicked_at', 'integer')
    .addColumn('left_at', 'integer')
    .addColumn('complained_at', 'integer')
    .addColumn('unreached_at', 'integer')
    .addColumn('bounce', 'integer')
    .addPrimaryKeyConstraint('broadcast_people_key', ['contact_id', 'broadcast_id'])
    .modifyEnd(clustered)
    .execute()
  for (const what of ['opened', 'clicked', 'left', 'complained', 'unreached'] as const) {
    await schema
      .createIndex(`broadcast_people_${what}`)
      .on('broadcast_people')
      .columns(['broadcast_id', 'contact_id'])
      .where(sql.ref(`${what}_at`), 'is not', null)
      .execute()
  }
}
