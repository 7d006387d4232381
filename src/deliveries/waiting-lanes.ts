import type { Read } from '../store/index.js'
import type { StreamKey } from './due-rows.js'

// The mails that were made last wait the longest; looking at so many costs as much as an index search.
const mostLooked = 500

/**
 * The streams of a campaign's waiting mail, the longest first. It looks at the newest mails, as those that were made
 * first have left.
 */
export async function streamsOfCampaign(
  read: Read,
  { accountId, broadcastId, limit }: { accountId: string; broadcastId: string; limit: number },
): Promise<(StreamKey & { node: number; deliveries: number })[]> {
  const newest = read
    .selectFrom('emails')
    .select('id')
    .where('broadcast_id', '=', broadcastId)
    .orderBy('id', 'desc')
    .limit(mostLooked)
    .as('newest')
  const rows = await read
    .selectFrom(newest)
    .innerJoin('queue', 'queue.email_id', 'newest.id')
    .select(({ fn }) => ['lane', 'class', 'node', fn.countAll<number>().as('deliveries')])
    .where('held_at', 'is', null)
    .groupBy(['lane', 'class', 'node'])
    .execute()
  return rows
    .map(({ class: of, ...row }) => ({ accountId, class: of, ...row }))
    .sort((a, b) => b.deliveries - a.deliveries)
    .slice(0, limit)
}
