import { integer, type RowOf, table, text } from './table.js'

/** One session of the submission listeners, after its end. */
const submissionSessions = table(
  'submission_sessions',
  {
    id: integer().primaryKey(),
    /** Null: nobody logged in. */
    account_id: text().orNull(),
    key_last4: text().orNull(),
    user: text().orNull(),
    listener: text<'starttls' | 'tls' | 'plain'>(),
    remote_address: text(),
    helo: text(),
    tls: text().orNull(),
    began_at: integer(),
    ended_at: integer(),
    accepted: integer(),
    refused: integer(),
    verdict: text(),
    /** JSON array of the first ids that were given out. */
    email_ids: text(),
    /** Only kept where something was refused. */
    transcript: text().orNull(),
  },
  { indexes: { submission_sessions_account: ['account_id', 'id'] } },
)

export interface SubmissionSessionRow extends RowOf<typeof submissionSessions> {}

export const submissionTables = [submissionSessions] as const
