import type { Read } from '../store/index.js'
import { findAnyTopic } from './topic.js'

/** Somebody who has left a topic. */
export interface LeftTopic {
  email: string
  /** As the account's contact is named; null for one without names, or who is no contact any more. */
  name: string | null
  optedOutAt: number
}

/** Most recent first, at most `limit`; with the topic, archived or not. */
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
    email: row.email ?? row.address,
    name: [row.first_name, row.last_name].filter(Boolean).join(' ') || null,
    optedOutAt: row.opted_out_at,
  }))
  return { topic: { id, name }, optOuts }
}

/** How many have left each topic, by its id; none for those that nobody has left. */
export async function optOutCounts(
  read: Read,
  topicIds: readonly string[],
): Promise<Map<string, number>> {
  if (topicIds.length === 0) return new Map()
  const rows = await read
    .selectFrom('topic_opt_outs')
    .select((eb) => ['topic_id', eb.fn.countAll<number>().as('left')])
    .where('topic_id', 'in', topicIds)
    .groupBy('topic_id')
    .execute()
  return new Map(rows.map(({ topic_id, left }) => [topic_id, left]))
}
