import { stoppedForClient } from '../billing/index.js'
import { sumCampaigns } from '../stats/index.js'
import { cursorOf, idInCursor, type Read } from '../store/index.js'
import { audienceNow } from './audience-now.js'
import { type Broadcast, findBroadcastDetail, listBroadcasts } from './broadcast.js'
import { alikeVersions, alikeWords, draftVersions } from './put-variants.js'
import { listRecipients } from './recipients.js'
import { shownBroadcast, shownDetail } from './shown.js'
import { campaignVersions } from './shown-variants.js'

/* Answers that the API and the commands share. */

// interface.md, Limits.
const maxRecipientsShown = 1_000

/** Why the account's campaigns do not go on now, in words for the account; or null. */
const stopOf = async (read: Read, accountId: string) =>
  (await stoppedForClient(read, accountId, 'marketing')) ?? null

/** A page of an account's campaigns. */
export async function broadcastsAnswer(
  read: Read,
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  now: number,
) {
  const scope = `broadcasts ${accountId}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const found = await listBroadcasts(read, accountId, { limit: limit + 1, before })
  const stop = await stopOf(read, accountId)
  const page = found.slice(0, limit)
  const left = await leftBy(read, page)
  const last = page.at(-1)
  const hasMore = found.length > limit
  const shown = page.map(async (broadcast) => {
    const people = await aheadOf(read, broadcast)
    return shownBroadcast(broadcast, stop, { now, left: left(broadcast), people })
  })
  return {
    broadcasts: await Promise.all(shown),
    hasMore,
    nextCursor: hasMore && last !== undefined ? cursorOf(last.id, scope) : null,
  }
}

/** One campaign with its first recipients. `hasRoom`: whether there is room for more of its mails. */
export async function broadcastAnswer(
  read: Read,
  { accountId, id }: { accountId: string; id: string },
  { hasRoom, now }: { hasRoom: boolean; now: number },
) {
  const broadcast = await findBroadcastDetail(read, accountId, id)
  const stop = await stopOf(read, accountId)
  const recipients = await listRecipients(read, broadcast.id, maxRecipientsShown)
  const versions = await campaignVersions(read, broadcast)
  const left = (await leftBy(read, [broadcast]))(broadcast)
  const alike = alikeVersions(broadcast, (await draftVersions(read, broadcast)).variants).map(
    alikeWords,
  )
  const people = await aheadOf(read, broadcast)
  return shownDetail(broadcast, stop, { now, left, people, recipients, versions, alike, hasRoom })
}

/** How many a campaign reaches that has not begun: its list may have grown since it was saved. */
const aheadOf = async (read: Read, broadcast: Broadcast) =>
  broadcast.status === 'draft' || broadcast.status === 'scheduled'
    ? (await audienceNow(read, broadcast)).people
    : undefined

/** How many people left by each of some campaigns. */
async function leftBy(read: Read, campaigns: readonly Broadcast[]) {
  const begun = campaigns.filter(({ sent_at }) => sent_at !== null).map(({ id }) => id)
  const sums = begun.length === 0 ? undefined : await sumCampaigns(read, begun)
  return ({ id }: Broadcast) => sums?.get(id)?.unsubscribed ?? 0
}

/** The answer when a campaign was paused. */
export const pausedBroadcast = (id: string) => ({
  id,
  status: 'paused',
  message: 'Campaign paused',
})

/** The answer when a paused campaign goes on. It does not say in which state, as that is decided later. */
export const resumedBroadcast = (id: string) => ({ id, message: 'The campaign goes on' })

/** The answer when a campaign that had not begun is a draft again. */
export const takenBackBroadcast = (id: string) => ({
  id,
  status: 'draft',
  message: 'The campaign is a draft again',
})

/** The answer when the version for the rest was chosen. */
export const chosenVariant = (id: string, key: string) => ({
  id,
  chosen: key,
  message: `Version ${key} goes to the rest`,
})

/** The answer when a campaign was cancelled. */
export const cancelledBroadcast = (id: string) => ({
  id,
  status: 'cancelled',
  message: 'Campaign cancelled',
})
