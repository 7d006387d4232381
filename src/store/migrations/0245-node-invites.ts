import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** What nodes share: codes by which others join, hashes of their files, certificates and proofs of names. */
export const nodeInvites: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createTable('node_invites')
      .addColumn('lookup', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sealed', 'blob', (column) => column.notNull())
      .addColumn('until', 'integer', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
    await schema
      .alterTable('nodes')
      .addColumn('files', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute()
    await schema.alterTable('certificates').addColumn('sealed', 'blob').execute()
    await schema.alterTable('certificates').addColumn('hash', 'text').execute()
    await schema
      .createTable('acme_challenges')
      .addColumn('token', 'text', (column) => column.primaryKey().notNull())
      .addColumn('answer', 'text', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
  },
}
