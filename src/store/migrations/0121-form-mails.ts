import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'
import { clustered } from '../sqlite/make-tables.js'

/** The mails that asked for a confirmation; submissions are deleted with them. */
export const formMails: Migration = {
  async up(db: Kysely<Tables>) {
    const { schema } = db
    await schema
      .createTable('form_mails')
      .addColumn('email_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('form_id', 'text', (column) =>
        column.notNull().references('forms.id').onDelete('cascade'),
      )
      .addColumn('sent_at', 'integer', (column) => column.notNull())
      .modifyEnd(clustered)
      .execute()
    await schema.createIndex('form_mails_age').on('form_mails').column('sent_at').execute()
    // Today's schema no longer has this column.
    const emailId = db.dynamic.ref<'id'>('email_id')
    await db
      .insertInto('form_mails')
      .columns(['email_id', 'form_id', 'sent_at'])
      .expression(
        db
          .selectFrom('form_entries')
          .select([emailId, 'form_id', 'created_at'])
          .where(emailId, 'is not', null),
      )
      .execute()
    await schema.dropIndex('form_entries_mail').execute()
    await schema.alterTable('form_entries').dropColumn('email_id').execute()
  },
}
