import {
  type AccountBilling,
  checkSending,
  countCampaignMails,
  readBilling,
} from '../billing/index.js'
import { verifiedSender } from '../emails/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Read, Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { reachableNow } from './audience.js'
import { type Broadcast, findBroadcast, ofFreeAccounts } from './broadcast.js'
import type { BroadcastDeps } from './deps.js'

/**
 * A campaign's dispatch begins: its mails count from now on, and it is expanded. Throws a 402 when
 * the plan has no room for them.
 */
export async function begin(
  tx: Tx,
  billing: AccountBilling,
  id: string,
  { audience, now }: { audience: number; now: number },
): Promise<void> {
  await countCampaignMails(tx, billing, audience, now)
  await tx
    .updateTable('broadcasts')
    .set({ status: 'sending', reason: null, sent_at: now, audience, expanded_at: now })
    .where('id', '=', id)
    .execute()
}

/**
 * Dispatches a draft, or schedules one that has a time to come; throws as `createBroadcast` does, and
 * a 409 for what is no draft.
 */
export async function sendDraft(
  deps: Pick<BroadcastDeps, 'store' | 'clock' | 'expand'>,
  billing: AccountBilling,
  id: string,
): Promise<Broadcast> {
  const { store, clock } = deps
  const { accountId } = billing
  const draft = await findBroadcast(store.read, accountId, id)
  refuseUnlessDraft(draft)
  const audience = await checkAgain(deps, billing, draft)
  const now = clock.now()
  const sent = await store.write(async (tx) => {
    // Another request may have sent it since.
    refuseUnlessDraft(await findBroadcast(tx, accountId, id))
    if ((draft.scheduled_at ?? 0) <= now) await begin(tx, billing, draft.id, { audience, now })
    else {
      const scheduled = { status: 'scheduled', audience } as const
      await tx.updateTable('broadcasts').set(scheduled).where('id', '=', draft.id).execute()
    }
    return await findBroadcast(tx, accountId, id)
  })
  if (sent.status === 'sending') deps.expand()
  return sent
}

function refuseUnlessDraft({ status }: Broadcast): void {
  if (status === 'draft') return
  throw new ApiError('conflict', `Only a draft can be sent; this campaign is ${status}`)
}

/** What may have changed since a campaign was made; resolves with how many it reaches now. */
async function checkAgain(
  deps: Pick<BroadcastDeps, 'store'>,
  billing: AccountBilling,
  broadcast: Broadcast,
): Promise<number> {
  checkSending(billing, 'marketing')
  const { account_id: accountId, topic_id: topicId } = broadcast
  await verifiedSender(deps, accountId, broadcast.from_header)
  // An archived one cannot be sent on.
  if (topicId !== null) await findTopic(deps.store.read, accountId, topicId)
  return await reachableNow(deps.store.read, audienceOf(broadcast))
}

/**
 * Dispatches what is scheduled and due, to whom it reaches now. What cannot be sent for good has
 * failed and says why; a campaign of an account that is paused or suspended waits.
 */
export async function dispatchDue(deps: Pick<BroadcastDeps, 'store' | 'clock' | 'plans'>) {
  const { store, clock, plans } = deps
  for (const broadcast of await dueBroadcasts(store.read, clock.now())) {
    const { id, account_id: accountId } = broadcast
    const billing = await readBilling(store.read, plans, accountId)
    const refusal = await dispatchOne(deps, billing, broadcast).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return messageOf(error)
      throw error
    })
    if (refusal === undefined) continue
    const failed = { status: 'failed', reason: refusal, ended_at: clock.now() } as const
    await store.write((tx) =>
      tx
        .updateTable('broadcasts')
        .set(failed)
        .where('id', '=', id)
        .where('status', '=', 'scheduled')
        .execute(),
    )
  }
}

/** What is scheduled and due, of accounts that may send, the longest due first. */
export async function dueBroadcasts(read: Read, now: number): Promise<Broadcast[]> {
  const due = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('status', '=', 'scheduled')
    .where('scheduled_at', '<=', now)
    .orderBy('scheduled_at')
    .execute()
  return await ofFreeAccounts(read, due)
}

async function dispatchOne(
  deps: Pick<BroadcastDeps, 'store' | 'clock'>,
  billing: AccountBilling,
  broadcast: Broadcast,
): Promise<undefined> {
  const audience = await checkAgain(deps, billing, broadcast)
  await deps.store.write(async (tx) => {
    const { status } = await findBroadcast(tx, broadcast.account_id, broadcast.id)
    if (status === 'scheduled') {
      await begin(tx, billing, broadcast.id, { audience, now: deps.clock.now() })
    }
  })
}

export const audienceOf = ({ account_id, list_id, topic_id }: Broadcast) => ({
  accountId: account_id,
  listId: list_id,
  topicId: topic_id,
})
