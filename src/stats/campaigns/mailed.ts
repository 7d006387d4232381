import { sql } from 'kysely'
import { providerOf } from '../../protection/index.js'
import { idsIn, type Read, type Store, storedTexts } from '../../store/index.js'
import { addTaken } from './people.js'

/** The value that says: for all mails of the campaign it is noted whether a server took them. */
const all = 'all'

/** Those of some campaigns for which it is noted whose mail a server has taken. */
export async function notedAmong(
  read: Read,
  broadcastIds: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(broadcastIds)]
  if (ids.length === 0) return new Set()
  const rows = await read
    .selectFrom('broadcasts')
    .select('id')
    .where('id', 'in', idsIn(ids, 'text'))
    .where('mailed_through', 'is not', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Looks up the next `limit` mails of a campaign for which it is to be noted whose mail a server has taken. Mail that
 * is taken meanwhile has an event, which notes it. Resolves with whether there may be more. Only one thread may call
 * it, as with `rollUp`.
 */
export async function noteMailed({ read, write }: Store, limit: number): Promise<boolean> {
  const campaign = await read
    .selectFrom('broadcasts')
    .select(['id', 'account_id', 'mailed_through'])
    // Written like the index's condition, which has only those that are not looked up yet.
    .where('mailed_through', '<>', sql.lit(all))
    .limit(1)
    .executeTakeFirst()
  const through = campaign?.mailed_through ?? null
  if (campaign === undefined || through === null) return false
  const mails = await read
    .selectFrom('emails')
    .leftJoin('deliveries', 'deliveries.email_id', 'emails.id')
    .select(['emails.id', 'to_list', 'emails.status', 'sent_at', 'created_at', 'remote'])
    .where('broadcast_id', '=', campaign.id)
    .where('emails.id', '>', through)
    .orderBy('emails.id')
    .limit(limit)
    .execute()
  const taken = mails.flatMap((mail) => {
    const [recipient] = storedTexts(mail.to_list) ?? []
    const isTaken = mail.status === 'delivered' || mail.status === 'sent'
    if (!isTaken || recipient === undefined) return []
    const at = mail.sent_at ?? mail.created_at
    const { id: broadcastId, account_id: accountId } = campaign
    const provider = providerOf(recipient, mail.remote)
    return [{ accountId, recipient, broadcastId, emailId: mail.id, provider, at }]
  })
  const last = mails.length < limit ? undefined : mails.at(-1)
  await write(async (tx) => {
    await addTaken(tx, taken)
    await tx
      .updateTable('broadcasts')
      .set({ mailed_through: last?.id ?? all })
      .where('id', '=', campaign.id)
      .execute()
  })
  return true
}
