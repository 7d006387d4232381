import { type EmailStatus, type Read, storedTexts } from '../store/index.js'

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
  const rows = await read
    .selectFrom('emails')
    .select(['to_list', 'status', 'opened_at', 'clicked_at', 'opens', 'clicks'])
    .where('broadcast_id', '=', broadcastId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    email: onlyOf(row.to_list),
    status: row.status,
    openedAt: row.opened_at,
    clickedAt: row.clicked_at,
    opensCount: row.opens,
    clicksCount: row.clicks,
  }))
}

/** Somebody whom a campaign did not reach. */
export interface Undelivered {
  emailId: string
  email: string
  status: EmailStatus
  /** What the receiving server said last; null where none was asked. */
  reply: string | null
}

/** Whom a campaign did not reach, at most `limit`: the first whose mails were made. */
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

// A campaign's mail has one recipient.
function onlyOf(toList: string): string {
  const [only = ''] = storedTexts(toList) ?? []
  return only
}
