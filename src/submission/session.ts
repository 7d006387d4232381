import { counted } from '../amounts/index.js'
import type { Read, SubmissionSessionRow } from '../store/index.js'
import type { Client } from './client.js'

/** Which of the three listeners: TLS after STARTTLS, TLS from the first byte, or none at all. */
export type ListenerName = 'starttls' | 'tls' | 'plain'

/** What is known about a session while it lasts, and recorded afterwards. */
export interface SessionCourse {
  listener: ListenerName
  beganAt: number
  client: Client | undefined
  /** The user name as given; only the key counts. */
  user: string | undefined
  tls: string | undefined
  /** The recipients of the mail under way, in the order of RCPT, by the canonical address. */
  recipients: Map<string, string>
  mailFrom: string
  accepted: number
  refused: number
  /** The first ids that were given out. */
  emailIds: string[]
  /** Fields that had no valid form and were replaced. */
  replaced: Set<string>
  lastRefusal: string | undefined
  transcript: Transcript
}

/** What was said in a session, for those who look for the cause of a refusal. */
interface Transcript {
  add(line: string): void
  text(): string
}

// How long a transcript may be: 36 kB at most.
const maxLines = 120
const maxLineLength = 300

/** The lines of a session: its beginning and its end, because a long session repeats itself in between. */
export function makeTranscript(): Transcript {
  const first: string[] = []
  const last: string[] = []
  let left = 0
  return {
    add(text) {
      // A control character could move the cursor, or worse, in a reader's terminal.
      const line = text.replace(/\p{Cc}/gu, '?').slice(0, maxLineLength)
      if (first.length < maxLines / 2) return void first.push(line)
      last.push(line)
      if (last.length <= maxLines / 2) return
      last.shift()
      left++
    },
    text: () =>
      [...first, ...(left > 0 ? [`… ${counted(left, 'line')} …`] : []), ...last].join('\n'),
  }
}

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

/** One session of any account, for operators. */
export async function findSession(read: Read, id: number): Promise<SubmissionSession | undefined> {
  const row = await read
    .selectFrom('submission_sessions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && shown(row)
}

/** A row as operators see it. */
const shown = ({ email_ids, account_id, ...row }: SubmissionSessionRow): SubmissionSession => ({
  ...row,
  accountId: account_id,
  emailIds: JSON.parse(email_ids) as string[],
})
