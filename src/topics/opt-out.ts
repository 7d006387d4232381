import { markAddresses } from '../changes/index.js'
import { recordConsent } from '../consent/index.js'
import { addressKey } from '../mime/index.js'
import { idsIn, prepared, type Read, type Tx } from '../store/index.js'
import { findAnyTopic } from './topic.js'

/** An address that no longer wants mail about a topic. */
export interface OptOut {
  topicId: string
  address: string
}

// How many addresses one query looks up, so that it does not occupy the one database for long.
const perQuery = 1_000

/**
 * Records that an address has left a topic, by a mail if one is named; resolves with whether that is new. `by` is
 * `return` where somebody comes back to another topic and therefore stays out of this one.
 */
export async function optOut(
  tx: Tx,
  accountId: string,
  { topicId, address, emailId, by }: OptOut & { emailId?: string | undefined; by?: 'return' },
  now: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('topic_opt_outs')
    .values({
      account_id: accountId,
      address: addressKey(address),
      topic_id: topicId,
      opted_out_at: now,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'address', 'topic_id']).doNothing())
    .executeTakeFirstOrThrow()
  // Somebody who clicks twice has left once: the consent log tells what changed, not each click.
  if (numInsertedOrUpdatedRows !== 1n) return false
  await addToCount(tx, topicId, 1)
  await markAddresses(tx, accountId, [address])
  const detail = { topicId, ...(by && { by }), ...(emailId === undefined ? {} : { emailId }) }
  await recordConsent(tx, accountId, address, { at: now, kind: 'left_topic', detail })
  return true
}

/**
 * Takes an opt-out back, at the recipient's own word, by a mail if one is named; resolves with whether there was one.
 */
export async function optIn(
  tx: Tx,
  accountId: string,
  { topicId, address, emailId }: OptOut & { emailId?: string | undefined },
  now: number,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('topic_opt_outs')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(address))
    .where('topic_id', '=', topicId)
    .executeTakeFirstOrThrow()
  if (numDeletedRows !== 1n) return false
  await addToCount(tx, topicId, -1)
  await markAddresses(tx, accountId, [address])
  const detail = { topicId, by: 'recipient', ...(emailId === undefined ? {} : { emailId }) }
  await recordConsent(tx, accountId, address, { at: now, kind: 'returned_to_topic', detail })
  return true
}

/** Changes the topic's count in the transaction of each opt-out and of its end. */
const addToCount = (tx: Tx, topicId: string, change: number) =>
  tx
    .updateTable('topics')
    .set((eb) => ({ opted_out: eb('opted_out', '+', change) }))
    .where('id', '=', topicId)
    .execute()

/** Which of `addresses` have left the topic, in the given spelling. */
export async function optedOutAmong(
  read: Read,
  accountId: string,
  topicId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const left = new Set<string>()
  for (let start = 0; start < addresses.length; start += perQuery) {
    const some = addresses.slice(start, start + perQuery)
    const rows = await read
      .selectFrom('topic_opt_outs')
      .select('address')
      .where('account_id', '=', accountId)
      .where('address', 'in', idsIn([...new Set(some.map(addressKey))], 'text'))
      .where('topic_id', '=', topicId)
      .execute()
    const found = new Set(rows.map(({ address }) => address))
    for (const address of some) if (found.has(addressKey(address))) left.add(address)
  }
  return left
}

/** The ids of the topics that an address has left. */
export async function topicsLeftBy(
  read: Read,
  accountId: string,
  address: string,
): Promise<string[]> {
  return [...(await optOutsOf(read, accountId, address)).keys()]
}

/** The topics that an address has left, by their ids, and when. */
export async function optOutsOf(
  read: Read,
  accountId: string,
  address: string,
): Promise<Map<string, number>> {
  const rows = await leftBy(read, { accountId, key: addressKey(address) })
  return new Map(rows.map((row) => [row.topic_id, row.opted_out_at]))
}

const leftBy = prepared<
  { accountId: string; key: string },
  { topic_id: string; opted_out_at: number }
>((db, { accountId, key }) =>
  db
    .selectFrom('topic_opt_outs')
    .select(['topic_id', 'opted_out_at'])
    .where('account_id', '=', accountId)
    .where('address', '=', key),
)

/** Whether the account has a topic that is not archived and that an address has not left. */
export async function getsSomeTopic(
  read: Read,
  accountId: string,
  address: string,
): Promise<boolean> {
  const one = await read
    .selectFrom('topics')
    .select('id')
    .where('account_id', '=', accountId)
    .where('archived', '=', 0)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('topic_opt_outs')
            .select('topic_id')
            .where('topic_opt_outs.account_id', '=', accountId)
            .where('address', '=', addressKey(address))
            .whereRef('topic_id', '=', 'topics.id'),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return one !== undefined
}

/** Somebody who has left a topic. */
export interface LeftTopic {
  email: string
  /** The name of the account's contact; null for one without names, or for an address that is no longer a contact. */
  name: string | null
  optedOutAt: number
}

/** The opt-outs, most recent first, at most `limit`; with the topic, archived or not. */
export async function listOptOuts(read: Read, accountId: string, topicId: string, limit: number) {
  const { id, name } = await findAnyTopic(read, accountId, topicId)
  const rows = await read
    .selectFrom('topic_opt_outs')
    .leftJoin('contacts', (join) =>
      join
        .onRef('contacts.account_id', '=', 'topic_opt_outs.account_id')
        .onRef('contacts.address', '=', 'topic_opt_outs.address'),
    )
    .select(['topic_opt_outs.address', 'email', 'first_name', 'last_name', 'opted_out_at'])
    .where('topic_id', '=', id)
    .where('topic_opt_outs.account_id', '=', accountId)
    .orderBy('opted_out_at', 'desc')
    .orderBy('topic_opt_outs.address')
    .limit(limit)
    .execute()
  const optOuts: LeftTopic[] = rows.map((row) => ({
    // The contact's own spelling; the opt-out keeps only the form in which addresses are compared.
    email: row.email ?? row.address,
    name: [row.first_name, row.last_name].filter(Boolean).join(' ') || null,
    optedOutAt: row.opted_out_at,
  }))
  return { topic: { id, name }, optOuts }
}
