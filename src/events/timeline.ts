import { type Read, storedJson } from '../store/index.js'
import type { EventDetail, MailEvent } from './event.js'

/** An account's mail, from its first event to its last; or `limit` of them behind the first `skip`. */
export async function readTimeline(
  read: Read,
  accountId: string,
  emailId: string,
  { skip = 0, limit }: { skip?: number; limit?: number } = {},
): Promise<MailEvent[]> {
  const rows = await read
    .selectFrom('events')
    .selectAll()
    .where('email_id', '=', emailId)
    .where('account_id', '=', accountId)
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0).offset(skip))
    .execute()
  return rows.map((row) => ({
    accountId: row.account_id,
    emailId: row.email_id,
    deliveryId: row.delivery_id,
    recipient: row.recipient,
    class: row.class,
    type: row.type,
    at: row.at,
    reply: row.reply,
    detail: (storedJson(row.detail) ?? null) as EventDetail | null,
  }))
}
