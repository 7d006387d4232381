import { sql } from 'kysely'
import { shownCount } from '../amounts/index.js'
import { nextTurn } from '../bounded/index.js'
import { isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import {
  firstUuidAt,
  prepared,
  type Read,
  type ReceivedRow,
  type ReceivedTextRow,
  storedJson,
} from '../store/index.js'
import type { KeptAttachment, KeptHeader } from './kept.js'

/** Which received mails are listed. */
export interface ReceivedFilter {
  /** In lower case. */
  recipient?: string | undefined
  /** Only answers to this mail of the account. */
  emailId?: string | undefined
  ruleId?: string | undefined
  /** Only mails with this text in the From, in any case. */
  from?: string | undefined
  state?: 'reading' | 'read' | 'unreadable' | undefined
  /** Only mails from this time on, and before the next one (milliseconds UTC). */
  after?: number | undefined
  before?: number | undefined
}

// How many rows a page looks at: a filter that matches few of millions costs no more than tenths of a second.
const mostLooked = 10_000
const chunk = 200
// A mail gets its id before it is written.
const idLeadMs = 60_000

/**
 * An account's received mails, newest first, `limit` of them older than `before`. `next`: after it there may be more.
 */
export async function listReceived(
  read: Read,
  accountId: string,
  filter: ReceivedFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<{ rows: ReceivedRow[]; next: string | undefined }> {
  const found: ReceivedRow[] = []
  let below = earlierOf(before, filter.before)
  for (let looked = 0; looked < mostLooked; looked += chunk) {
    const rows = await slice(read, accountId, filter, below)
    for (const row of rows) {
      if (fits(row, filter)) {
        if (found.length === limit) return { rows: found, next: found.at(-1)?.id }
        found.push(row)
      }
      below = row.id
    }
    if (rows.length < chunk) return { rows: found, next: undefined }
    await nextTurn()
  }
  return { rows: found, next: below }
}

const mostFrom = 1_000

/** Mails received from an address, the newest first, for a person who asks for their data. */
export async function receivedFrom(read: Read, accountId: string, address: string) {
  const found: ReceivedRow[] = []
  let before: string | undefined
  do {
    const options = { limit: mostFrom - found.length, before }
    const { rows, next } = await listReceived(read, accountId, { from: address }, options)
    found.push(...rows)
    before = next
  } while (before !== undefined && found.length < mostFrom)
  const mails: { id: string; at: string; to: string; subject: string; text: string | null }[] = []
  for (const { id, received_at, recipient, subject } of found) {
    const texts = await read
      .selectFrom('received_texts')
      .select('text')
      .where('received_id', '=', id)
      .executeTakeFirst()
    mails.push({ id, at: isoTime(received_at), to: recipient, subject, text: texts?.text ?? null })
  }
  return mails
}

/** Where a page begins: an id begins with the time at which its mail came in. */
function earlierOf(cursor: string | undefined, before: number | undefined): string | undefined {
  if (before === undefined) return cursor
  const id = firstUuidAt(before)
  return cursor === undefined || id < cursor ? id : cursor
}

/** Reads the index of the account, or of the answered mail. */
const slice = (
  read: Read,
  accountId: string,
  { emailId, after }: ReceivedFilter,
  below: string | undefined,
): Promise<ReceivedRow[]> =>
  read
    .selectFrom('received')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(emailId !== undefined, (query) => query.where('email_id', '=', emailId ?? ''))
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .$if(after !== undefined, (query) =>
      query.where('id', '>=', firstUuidAt((after ?? 0) - idLeadMs)),
    )
    .orderBy('id', 'desc')
    .limit(chunk)
    .execute()

function fits(row: ReceivedRow, filter: ReceivedFilter): boolean {
  const { recipient, ruleId, from, state, after, before } = filter
  const isState =
    state === undefined ||
    (state === 'reading'
      ? row.due_at !== null
      : row.due_at === null && (row.fault === null) === (state === 'read'))
  return (
    isState &&
    row.received_at >= (after ?? 0) &&
    (before === undefined || row.received_at < before) &&
    (recipient === undefined || row.recipient === recipient) &&
    (ruleId === undefined || row.rule_id === ruleId) &&
    (from === undefined || isFrom(row, from.toLowerCase()))
  )
}

const isFrom = (row: ReceivedRow, from: string) =>
  row.header_from.toLowerCase().includes(from) || row.mail_from.toLowerCase() === from

/** A received mail, with what was read in it. */
export interface ReceivedMail {
  row: ReceivedRow
  /** Undefined while the mail is not read, or if it cannot be. */
  texts: ReceivedTextRow | undefined
  header: KeptHeader
  attachments: KeptAttachment[]
  /** What became of the forwarding mail. */
  forwarded: { status: string; reply: string | null } | undefined
}

/** Throws a 404. */
export async function findReceived(
  read: Read,
  accountId: string,
  id: string,
): Promise<ReceivedMail> {
  const [row] = await rowOf(read, { id })
  if (row?.account_id !== accountId) throw noMail()
  const texts = await read
    .selectFrom('received_texts')
    .selectAll()
    .where('received_id', '=', id)
    .executeTakeFirst()
  return {
    row,
    texts,
    header: (storedJson(texts?.headers ?? null) as KeptHeader | undefined) ?? noHeader,
    attachments: (storedJson(texts?.attachments ?? null) as KeptAttachment[] | undefined) ?? [],
    forwarded: row.forward_id === null ? undefined : await forwardedBy(read, row.forward_id),
  }
}

const noHeader: KeptHeader = { to: '', references: [], fields: [] }

/** The file with that number, counted from 1. Throws a 404, or a 409 for a mail that is not read yet. */
export async function findReceivedFile(
  read: Read,
  accountId: string,
  id: string,
  number: number,
): Promise<KeptAttachment> {
  const { row, attachments } = await findReceived(read, accountId, id)
  if (row.due_at !== null) {
    throw new ApiError('conflict', 'The mail is still being read: ask again in a moment')
  }
  const found = attachments[number - 1]
  if (found === undefined) throw new ApiError('not_found', `The mail has no file ${number}`)
  return found
}

const noMail = () => new ApiError('not_found', 'The account has received no mail with this id')

const rowOf = prepared<{ id: string }, ReceivedRow>((db, { id }) =>
  db.selectFrom('received').selectAll().where('id', '=', id),
)

/** How many of the account's newest mails a rule has decided about; `isAll`: there are no older mails. */
export async function receivedByRule(
  read: Read,
  accountId: string,
  ruleId: string,
): Promise<{ mails: number; isAll: boolean }> {
  const newest = read
    .selectFrom('received')
    .select('rule_id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(mostLooked)
  const { mails, looked } = await read
    .selectFrom(newest.as('newest'))
    .select((eb) => [
      eb.fn.countAll<number>().as('looked'),
      eb.fn
        .coalesce(
          eb.fn.sum<number>(eb.case().when('rule_id', '=', ruleId).then(1).else(0).end()),
          sql.lit(0),
        )
        .as('mails'),
    ])
    .executeTakeFirstOrThrow()
  return { mails: Number(mails), isAll: Number(looked) < mostLooked }
}

/** That number in a sentence, for whoever is about to delete the rule. */
export const byRuleWords = ({ mails, isAll }: { mails: number; isAll: boolean }): string => {
  const came =
    mails === 1
      ? '1 mail that came in by it stays'
      : `${shownCount(mails)} mails that came in by it stay`
  return isAll ? came : `${came}, of the newest ${shownCount(mostLooked)} of the account`
}

/** Of some mails, those whose forwarding failed, by their ids, with the reason. */
export async function notForwarded(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await read
    .selectFrom('received')
    .leftJoin('emails', 'emails.id', 'received.forward_id')
    .select(['received.id', 'forward_id', 'forward_fault', 'emails.status'])
    .where('received.account_id', '=', accountId)
    .where('received.id', 'in', ids)
    .where('received.action', '=', sql.lit('forward'))
    .execute()
  const failed = new Map<string, string>()
  for (const { id, forward_id, forward_fault, status } of rows) {
    if (forward_fault !== null) failed.set(id, forward_fault)
    else if (forward_id !== null && status !== null && isFailed(status)) {
      failed.set(id, (await forwardedBy(read, forward_id))?.reply ?? status)
    }
  }
  return failed
}

/** Whether a forwarding mail has finally reached nobody. */
export const isFailed = (status: string): boolean =>
  status === 'bounced' || status === 'failed' || status === 'suppressed'

/** The forwarding mail's state, and what the last server said. */
async function forwardedBy(read: Read, emailId: string) {
  const mail = await read
    .selectFrom('emails')
    .select('status')
    .where('id', '=', emailId)
    .executeTakeFirst()
  if (mail === undefined) return undefined
  const waiting = await read
    .selectFrom('queue')
    .select('last_reply')
    .where('email_id', '=', emailId)
    .executeTakeFirst()
  const ended = await read
    .selectFrom('deliveries')
    .select('reply')
    .where('email_id', '=', emailId)
    .executeTakeFirst()
  return { status: mail.status, reply: ended?.reply ?? waiting?.last_reply ?? null }
}
