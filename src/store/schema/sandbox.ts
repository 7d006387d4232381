import { blob, integer, type RowOf, table, text } from './table.js'

const sandboxMessages = table(
  'sandbox_messages',
  {
    /** Rises with the time of arrival. */
    id: integer().primaryKey(),
    received_at: integer(),
    /** Empty for the null sender. */
    mail_from: text(),
    /** JSON array of addresses. */
    rcpt_to: text(),
    subject: text(),
    header_from: text(),
    remote_address: text(),
    /** What the client called itself. */
    helo: text(),
    /** 1 when it came over STARTTLS. */
    tls: integer(),
    size_bytes: integer(),
    /** JSON, as `sandbox/verdicts.ts` writes it; null until the checks are done. */
    verdicts: text().orNull(),
    /**
     * The account that has it in its test inbox, and the mail of which it is a copy; null: it came to the sandbox.
     */
    account_id: text().orNull(),
    email_id: text().orNull(),
  },
  {
    indexes: {
      sandbox_messages_unchecked: { on: ['id'], where: (row) => row('verdicts', 'is', null) },
      sandbox_messages_account: {
        on: ['account_id', 'id'],
        where: (row) => row('account_id', 'is not', null),
      },
    },
  },
)

export interface SandboxMessageRow extends RowOf<typeof sandboxMessages> {}

/** The source is separate from its message, so that a later verdict does not write the whole mail again. */
const sandboxSources = table('sandbox_sources', {
  id: integer().primaryKey().references('sandbox_messages', 'cascade'),
  raw: blob(),
})

export const sandboxTables = [sandboxMessages, sandboxSources] as const
