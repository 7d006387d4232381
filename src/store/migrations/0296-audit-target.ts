import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Finds what was done with one thing without reading all that its account did. */
export const auditTarget: Migration = {
  async up({ schema }: Kysely<Tables>) {
    await schema
      .createIndex('audit_log_target')
      .on('audit_log')
      .columns(['account_id', 'target', 'id'])
      .execute()
  },
}
