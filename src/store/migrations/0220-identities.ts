import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** People who log in by a provider of OpenID Connect. */
export const identities: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('identities')
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('roles', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('used_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('identities_key', ['issuer', 'subject'])
      .modifyEnd(clustered)
      .execute()
    await schema
      .createIndex('identities_user')
      .on('identities')
      .columns(['user_id', 'issuer', 'subject'])
      .execute()
    await schema.alterTable('sessions').addColumn('came_by', 'text').execute()
  },
}
