import type { Read, SubmissionSessionRow } from '../store/index.js'

/** A session as operators see it. */
export interface SubmissionSession extends Omit<SubmissionSessionRow, 'email_ids' | 'account_id'> {
  accountId: string | null
  emailIds: string[]
}

/** The newest first; of one account, or only those in which something was refused. */
export async function listSessions(
  read: Read,
  {
    accountId,
    refused,
    limit,
  }: { accountId?: string | undefined; refused: boolean; limit: number },
): Promise<SubmissionSession[]> {
  const rows = await read
    .selectFrom('submission_sessions')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .$if(refused, (query) => query.where('transcript', 'is not', null))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(shown)
}

/** One of them, whoever's it is: for operators. */
export async function findSession(read: Read, id: number): Promise<SubmissionSession | undefined> {
  const row = await read
    .selectFrom('submission_sessions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && shown(row)
}

const shown = ({ email_ids, account_id, ...row }: SubmissionSessionRow): SubmissionSession => ({
  ...row,
  accountId: account_id,
  emailIds: JSON.parse(email_ids) as string[],
})
