import type { Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { aheadMs, leavesFrom } from './pace.js'

/** A campaign in a calendar. */
export type DatedCampaign = Pick<Broadcast, (typeof columns)[number]> & {
  /** When it began, or will begin (ms). */
  at: number
}

const columns = [
  ...(['id', 'name', 'subject', 'status', 'scheduled_at', 'sent_at'] as const),
  ...(['local_zone', 'audience', 'recipients', 'cancelled'] as const),
  ...(['list_id', 'whom'] as const),
  ...(['rate', 'send_window', 'next_at'] as const),
] as const

interface Between {
  from: number
  /** The end, which is not included. */
  to: number
  limit: number
}

/**
 * What an account has sent between two times, and what is scheduled for them, the earliest first: at most `limit` of
 * each.
 */
export async function campaignsBetween(
  read: Read,
  accountId: string,
  { from, to, limit }: Between,
): Promise<DatedCampaign[]> {
  const begun = await read
    .selectFrom('broadcasts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('sent_at', '>=', from)
    .where('sent_at', '<', to)
    .orderBy('sent_at')
    .limit(limit)
    .execute()
  const waiting = await read
    .selectFrom('broadcasts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('scheduled_at', '>=', from)
    .where('scheduled_at', '<', to)
    .where('sent_at', 'is', null)
    .where('status', 'in', ['scheduled', 'paused', 'failed'])
    .orderBy('scheduled_at')
    .limit(limit)
    .execute()
  // Campaigns that wait for their hours are shown where these begin. An account has few of them.
  const awaited = await read
    .selectFrom('broadcasts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('status', 'in', ['scheduled', 'paused'])
    .where('send_window', 'is not', null)
    .where('next_at', '>=', from - aheadMs)
    .where('next_at', '<', to)
    .where('sent_at', 'is', null)
    .where('local_zone', 'is', null)
    .orderBy('next_at')
    .limit(limit)
    .execute()
  const ids = new Set(awaited.map(({ id }) => id))
  return [...begun, ...waiting.filter(({ id }) => !ids.has(id)), ...awaited]
    .map((one) => Object.assign({}, one, { at: one.sent_at ?? leavesFrom(one) ?? 0 }))
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => a.at - b.at)
}
