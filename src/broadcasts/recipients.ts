import { nextTurn } from '../bounded/index.js'
import { type EmailRow, type EmailStatus, type Read, storedTexts } from '../store/index.js'

/** A campaign's mail to one recipient. */
export interface BroadcastRecipient {
  email: string
  status: EmailStatus
  openedAt: number | null
  clickedAt: number | null
  opensCount: number
  clicksCount: number
}

/** The first `limit` of a campaign's recipients, in the order in which their mails were made. */
export async function listRecipients(
  read: Read,
  broadcastId: string,
  limit: number,
): Promise<BroadcastRecipient[]> {
  return (await mailsOf(read, broadcastId).limit(limit).execute()).map(toRecipient)
}

// Few mails of a large campaign may have the status, so a page looks at no more than this, some at once. Where they are
// not in memory the 2,000 took 0.14 s, in which the thread had no turn for others (26 Nov 2026).
const mostLookedAt = 2_000
const lookedAtOnce = 200

interface RecipientsPart {
  status?: EmailStatus | undefined
  /** A filter on more than the status. */
  fits?: ((one: BroadcastRecipient) => boolean) | undefined
  /** A filter on what is looked up about their mails. */
  keep?: ((emailIds: readonly string[]) => Promise<ReadonlySet<string>>) | undefined
  /** The mail of the last recipient seen. */
  after?: string | undefined
  limit: number
}

/**
 * A page of recipients, with one status or all, with the ids of their mails. It may have fewer than `limit` without
 * being the last: `endsAt` is where the next one begins, null at the end.
 */
export async function pageOfRecipients(
  read: Read,
  broadcastId: string,
  { status, fits, keep, after = '', limit }: RecipientsPart,
): Promise<{ recipients: (BroadcastRecipient & { emailId: string })[]; endsAt: string | null }> {
  const most = status === undefined && fits === undefined ? limit + 1 : mostLookedAt
  const rows = await nextMails(read, broadcastId, { after, most })
  const some = rows.filter(
    (row) => (status === undefined || row.status === status) && (fits?.(toRecipient(row)) ?? true),
  )
  const kept = await keep?.(some.map(({ id }) => id))
  const fitting = kept === undefined ? some : some.filter(({ id }) => kept.has(id))
  const page = fitting.slice(0, limit)
  // Either the page is full, or it goes on after all that was looked at.
  const last = fitting.length > limit ? page.at(-1) : rows.at(-1)
  const isEnd = fitting.length <= limit && rows.length < most
  return {
    recipients: page.map((row) => ({ emailId: row.id, ...toRecipient(row) })),
    endsAt: isEnd || last === undefined ? null : last.id,
  }
}

/** The next mails after one, at most `most`. */
async function nextMails(
  read: Read,
  broadcastId: string,
  { after, most }: { after: string; most: number },
): Promise<(MailRow & { id: string })[]> {
  const rows: (MailRow & { id: string })[] = []
  for (;;) {
    const size = Math.min(lookedAtOnce, most - rows.length)
    const next = await mailsOf(read, broadcastId)
      .where('id', '>', rows.at(-1)?.id ?? after)
      .limit(size)
      .execute()
    rows.push(...next)
    if (next.length < size || rows.length === most) return rows
    await nextTurn()
  }
}

/**
 * Ordered by id, which is the order in which the mails were made; so the first 1,000 of
 * interface.md are always the same ones.
 */
const mailsOf = (read: Read, broadcastId: string) =>
  read
    .selectFrom('emails')
    .select(['id', 'to_list', 'status', 'opened_at', 'clicked_at', 'opens', 'clicks'])
    .where('broadcast_id', '=', broadcastId)
    .orderBy('id')

type MailRow = Pick<EmailRow, 'to_list' | 'status' | 'opened_at' | 'clicked_at'> & {
  opens: number
  clicks: number
}

/** Only the fields of the contract: 1,000 recipients are one answer. */
const toRecipient = (row: MailRow): BroadcastRecipient => ({
  email: onlyOf(row.to_list),
  status: row.status,
  openedAt: row.opened_at,
  clickedAt: row.clicked_at,
  opensCount: row.opens,
  clicksCount: row.clicks,
})

/** A person whom a campaign did not reach. */
export interface Undelivered {
  emailId: string
  email: string
  status: EmailStatus
  /** What the receiving server said last; null where none was asked. */
  reply: string | null
}

/** The people whom a campaign did not reach, at most `limit`: those whose mails were made first. */
export async function listUndelivered(
  read: Read,
  broadcastId: string,
  limit: number,
): Promise<Undelivered[]> {
  const rows = await read
    .selectFrom('emails')
    .leftJoin('deliveries', 'deliveries.email_id', 'emails.id')
    .select(['emails.id', 'emails.to_list', 'emails.status', 'deliveries.reply'])
    .where('emails.broadcast_id', '=', broadcastId)
    .where('emails.status', 'in', ['bounced', 'failed', 'suppressed', 'cancelled'])
    .orderBy('emails.id')
    .limit(limit)
    .execute()
  return rows.map(({ id, to_list, status, reply }) => ({
    emailId: id,
    email: onlyOf(to_list),
    status,
    reply,
  }))
}

/** The only recipient of a campaign's mail. */
export function onlyOf(toList: string): string {
  const [only = ''] = storedTexts(toList) ?? []
  return only
}
