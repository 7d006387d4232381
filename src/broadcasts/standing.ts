import { type AccountBilling, checkSending, readBilling } from '../billing/index.js'
import { verifiedSender } from '../emails/index.js'
import type { Read, Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import type { Broadcast, BroadcastDeps } from './broadcast.js'
import { mailTypeOf } from './notice.js'
import { type Audience, requireWhom, whomOf } from './whom.js'

/** The state that a campaign needs for sending, in the write that makes or dispatches it. */
export interface CampaignStanding {
  billing: AccountBilling
  /** If the domain was deleted and added again it has other keys. */
  domainId: string
}

/** What has to hold around a campaign that is sent, one check each; each look-up is by a key. */
export const standingChecks = (
  { plans }: Pick<BroadcastDeps, 'plans'>,
  broadcast: Broadcast,
  { draft = false } = {},
) => {
  const { account_id: accountId, topic_id: topicId, from_header: from } = broadcast
  return {
    billing: async (read: Read) => {
      const billing = await readBilling(read, plans, accountId)
      checkSending(billing, 'marketing')
      return billing
    },
    sender: async (read: Read) => await verifiedSender(read, accountId, from),
    // Nothing can be sent on an archived topic.
    topic: async (read: Read) => {
      if (topicId !== null) await findTopic(read, accountId, topicId)
    },
    audience: async (read: Read) =>
      await requireWhom(read, accountId, whomOf(broadcast), { mayBeEmpty: draft }),
  }
}

/**
 * Checked within that write, as things may have changed since the earlier check: the account may be stopped, the domain
 * or the list deleted, the topic archived. Throws as that check does.
 */
export async function checkStanding(
  tx: Tx,
  deps: Pick<BroadcastDeps, 'plans'>,
  broadcast: Broadcast,
  options: { draft?: boolean } = {},
): Promise<CampaignStanding> {
  const checks = standingChecks(deps, broadcast, options)
  const billing = await checks.billing(tx)
  const { domainId } = await checks.sender(tx)
  await checks.topic(tx)
  await checks.audience(tx)
  return { billing, domainId }
}

/**
 * The audience, read again at every use (interface.md: the audience is resolved again at dispatch).
 */
export const audienceOf = (broadcast: Broadcast): Audience => ({
  accountId: broadcast.account_id,
  whom: whomOf(broadcast),
  topicId: broadcast.topic_id,
  type: mailTypeOf(broadcast),
})
