import { idsIn, type Read } from '../store/index.js'
import { type Broadcast, listBroadcastsOf } from './broadcast.js'

// One that was made long before it left may be older than these.
const mostLookedAt = 20

/** Campaigns that began to leave after a time, the one that was made last first. */
export async function campaignsSince(
  read: Read,
  accountId: string,
  since: number,
): Promise<Broadcast[]> {
  const limit = mostLookedAt
  const newest = await listBroadcastsOf(read, accountId, ['sending', 'paused', 'sent'], { limit })
  return newest.filter(({ sent_at }) => sent_at !== null && sent_at > since)
}

/** How many of some contacts got mail of their account after a time. */
export async function mailedSince(
  read: Read,
  contactIds: readonly string[],
  since: number,
): Promise<number> {
  const rows = await read
    .selectFrom('contact_engagement')
    .select('contact_id')
    .where('contact_id', 'in', idsIn([...contactIds], 'text'))
    .where('last_sent_at', '>', since)
    .execute()
  return rows.length
}
