import { erasedContacts } from '../contacts/index.js'
import { addressKey } from '../mime/index.js'
import { countNameOf } from '../segments/index.js'
import { idsIn, preparedInsertAll, type Read, type Tx } from '../store/index.js'
import { erasedAmong, strength, suppressionsAmong } from '../suppression/index.js'
import type { AudienceMember } from './audience.js'
import type { AudienceCount } from './count-audience.js'

/*
 * People of an audience who get no mail when its mails are made: they must not be mailed (any more). The earlier count
 * of the audience tells nothing of them.
 */

/** Why somebody was left out, by the names in the count of an audience. */
export type WhyLeftOut = keyof Pick<
  AudienceCount,
  'unsubscribed' | 'bounced' | 'complained' | 'suppressed' | 'leftTopic'
>

/** Somebody who was left out. */
export interface LeftOut {
  contactId: string
  why: WhyLeftOut
}

/** Why these are left out, each by the strongest reason; somebody without a suppression has left the topic. */
export async function whyNotMailed(
  read: Read,
  { accountId, topicId }: { accountId: string; topicId: string | null },
  blocked: readonly AudienceMember[],
): Promise<LeftOut[]> {
  if (blocked.length === 0) return []
  const emails = blocked.map(({ email }) => email)
  const reasons = await suppressionsAmong(read, accountId, emails)
  return blocked.map(({ contactId, email }) => {
    const known = reasons.get(addressKey(email))
    const strongest = known && strength.find((reason) => known.has(reason))
    if (strongest !== undefined) return { contactId, why: countNameOf[strongest] }
    return { contactId, why: topicId === null ? 'suppressed' : 'leftTopic' }
  })
}

/** How many of them for each reason. */
export function countsLeftOut(leftOut: readonly LeftOut[]): Record<WhyLeftOut, number> {
  const counts = { unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0, leftTopic: 0 }
  for (const { why } of leftOut) counts[why]++
  return counts
}

/** Writes down who was left out. */
export async function noteLeftOut(
  tx: Tx,
  broadcastId: string,
  leftOut: readonly LeftOut[],
): Promise<void> {
  await insertLeftOut(
    tx,
    leftOut.map(({ contactId, why }) => ({
      broadcast_id: broadcastId,
      contact_id: contactId,
      why,
    })),
  )
}

const insertLeftOut = preparedInsertAll('broadcast_left_out')

/** What is said about somebody who was left out. */
export const leftOutWords: Readonly<Record<WhyLeftOut | 'erased', string>> = {
  unsubscribed: 'They have unsubscribed',
  bounced: 'Their address has bounced',
  complained: 'They have complained',
  suppressed: 'They were suppressed by hand',
  leftTopic: 'They have left the topic',
  erased: 'They were erased on request',
}

/** A page of left-out people who are still contacts, in the order of their ids; `endsAt` is null at the end. */
export async function pageOfLeftOut(
  read: Read,
  broadcastId: string,
  { after = '', limit }: { after?: string | undefined; limit: number },
): Promise<{ people: { email: string; why: keyof typeof leftOutWords }[]; endsAt: string | null }> {
  const rows = await read
    .selectFrom('broadcast_left_out')
    .innerJoin('contacts', 'contacts.id', 'contact_id')
    .select(['contact_id', 'account_id', 'email', 'why'])
    .where('broadcast_id', '=', broadcastId)
    .where('contact_id', '>', after)
    .orderBy('contact_id')
    .limit(limit + 1)
    .execute()
  const people = rows.slice(0, limit)
  const endsAt = rows.length > limit ? (people.at(-1)?.contact_id ?? null) : null
  const byHand = people.filter(({ why }) => why === 'suppressed').map(({ email }) => email)
  const erased = await erasedAmong(read, rows[0]?.account_id ?? '', byHand)
  return {
    people: people.map(({ email, why }) => ({ email, why: erased.has(email) ? 'erased' : why })),
    endsAt,
  }
}

/**
 * How many of those left out as suppressed by hand were erased on request and added again; undefined: too many to look
 * at.
 */
export async function erasedLeftOut(
  read: Read,
  { id, account_id: accountId }: { id: string; account_id: string },
): Promise<number | undefined> {
  const ids = await erasedContacts(read, accountId)
  if (ids === undefined || ids.length === 0) return ids?.length
  const rows = await read
    .selectFrom('broadcast_left_out')
    .select('contact_id')
    .where('broadcast_id', '=', id)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('why', '=', 'suppressed')
    .execute()
  return rows.length
}
