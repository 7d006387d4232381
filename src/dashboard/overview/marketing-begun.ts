import type { AccountBilling } from '../../billing/index.js'
import { listBroadcasts, listBroadcastsOf } from '../../broadcasts/index.js'
import { listPage } from '../../contacts/index.js'
import type { Read } from '../../store/index.js'
import type { MarketingBegun } from './checklist.js'

/** How far an account is on its way to a first campaign; undefined without a marketing plan. */
export async function marketingBegun(
  read: Read,
  { accountId, marketingPlan }: AccountBilling,
): Promise<MarketingBegun | undefined> {
  if (marketingPlan === null) return undefined
  const [{ page: lists }, campaigns, left, person, test] = await Promise.all([
    listPage(read, accountId, { limit: 1 }),
    listBroadcasts(read, accountId, { limit: 1 }),
    listBroadcastsOf(read, accountId, ['scheduled', 'sending', 'paused', 'sent'], { limit: 1 }),
    read
      .selectFrom('contacts')
      .select('id')
      .where('account_id', '=', accountId)
      .limit(1)
      .executeTakeFirst(),
    read
      .selectFrom('broadcast_tests')
      .select('sent_at')
      .where('account_id', '=', accountId)
      .limit(1)
      .executeTakeFirst(),
  ])
  return {
    lists: lists.length > 0,
    people: person !== undefined,
    campaigns: campaigns.length > 0,
    tested: test !== undefined,
    sent: left.length > 0,
  }
}
