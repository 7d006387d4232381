import { sql } from 'kysely'
import { blockedAmong, type Claimed } from '../../deliveries/index.js'
import { type BroadcastRow, prepared, queueClass, type Read } from '../../store/index.js'
import type { Outcome } from '../outcome.js'

const suppressed = (why: string): Outcome => ({ kind: 'suppressed', reply: `Not sent: ${why}` })

/**
 * What keeps a delivery from leaving that was free to when it was accepted: its recipient may have
 * bounced, complained or left since, and its campaign have been stopped. Undefined: nothing.
 */
export async function stopAtDeparture(read: Read, claimed: Claimed): Promise<Outcome | undefined> {
  const { accountId, recipient, emailId, attempts } = claimed
  // Of campaigns and automations; what is transactional is of neither.
  const marketing = claimed.class !== queueClass.transactional
  const [mail] = marketing
    ? await marketingMail(read, { emailId, address: recipient.toLowerCase() })
    : []
  if (mail?.deleted) return suppressed('the contact was deleted')
  if (mail?.status === 'cancelled') return suppressed('the campaign was cancelled')
  // In flight when the others were held, and put off then. What was never tried is on its way now.
  if (mail?.status === 'paused' && attempts > 0) {
    return { kind: 'deferred', reply: 'The campaign is paused' }
  }
  const type = marketing ? 'marketing' : 'transactional'
  const topicId = mail?.topicId ?? null
  const blocked = await blockedAmong(read, { accountId, type, topicId }, [recipient])
  if (blocked.size === 0) return undefined
  const byList = await blockedAmong(read, { accountId, type }, [recipient])
  return suppressed(
    byList.size > 0 ? 'the address is on the suppression list' : 'the recipient has left the topic',
  )
}

interface MarketingMail {
  topicId: string | null
  /** Of its campaign, if it is of one. */
  status: BroadcastRow['status'] | null
  /** Its recipient is no contact any more. */
  deleted: 0 | 1
}

const marketingMail = prepared<{ emailId: string; address: string }, MarketingMail>(
  (db, { emailId, address }) =>
    db
      .selectFrom('emails')
      .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
      .leftJoin('contacts', (join) =>
        join
          .onRef('contacts.account_id', '=', 'emails.account_id')
          .on('contacts.address', '=', address),
      )
      .select(['emails.topic_id as topicId', 'broadcasts.status'])
      .select(
        sql<0 | 1>`coalesce(broadcast_id, automation_step_id) is not null
        and contacts.id is null`.as('deleted'),
      )
      .where('emails.id', '=', emailId),
)
