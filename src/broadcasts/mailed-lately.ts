import { enteredFor, readThrough } from '../emails/index.js'
import { addressKey } from '../mime/index.js'
import { firstUuidAt, idsIn, type Read } from '../store/index.js'
import type { AudienceMember } from './audience.js'
import { type Broadcast, listBroadcastsOf } from './broadcast.js'
import { onlyOf } from './recipients.js'

// A campaign that was made long before it left may be older than these.
const mostLookedAt = 20
// How many mails of one person are looked at, within a day.
const mostMails = 20
// Mails of the last minute are not yet in the index of recipients.
const mostNew = 2_000

/** Campaigns that began to leave after a time, the last made first. */
export async function campaignsSince(
  read: Read,
  accountId: string,
  since: number,
): Promise<Broadcast[]> {
  const limit = mostLookedAt
  const newest = await listBroadcastsOf(read, accountId, ['sending', 'paused', 'sent'], { limit })
  return newest.filter(({ sent_at }) => sent_at !== null && sent_at > since)
}

/**
 * Which campaigns were sent to some people of an account within a time (ms), and to how many of them, the most first.
 */
export async function campaignsGot(
  read: Read,
  accountId: string,
  members: readonly AudienceMember[],
  { since, until }: { since: number; until: number },
): Promise<{ id: string; name: string | null; subject: string; people: number }[]> {
  const people = await mailedSince(read, members, since)
  if (people.length === 0) return []
  const bounds = { since: firstUuidAt(since), until: firstUuidAt(until + 1), limit: mostMails }
  const mails = new Map<string, string>()
  for (const { email } of people) {
    const address = addressKey(email)
    for (const id of await enteredFor(read, { accountId, address }, bounds)) mails.set(id, address)
  }
  const got = new Map<string, Set<string>>()
  const count = (broadcastId: string, address: string) =>
    got.set(broadcastId, (got.get(broadcastId) ?? new Set()).add(address))
  for (const { id, broadcastId } of await ofCampaigns(read, [...mails.keys()])) {
    count(broadcastId, mails.get(id) ?? '')
  }
  const known = new Set(people.map(({ email }) => addressKey(email)))
  for (const { id } of await campaignsSince(read, accountId, since)) {
    for (const address of await newestOf(read, id)) if (known.has(address)) count(id, address)
  }
  if (got.size === 0) return []
  const campaigns = await read
    .selectFrom('broadcasts')
    .select(['id', 'name', 'subject'])
    .where('account_id', '=', accountId)
    .where('id', 'in', [...got.keys()])
    .orderBy('id', 'desc')
    .execute()
  return campaigns
    .map((one) => Object.assign({ people: got.get(one.id)?.size ?? 0 }, one))
    .sort((a, b) => b.people - a.people)
}

/** The people who got mail of their account after a time. */
async function mailedSince(
  read: Read,
  members: readonly AudienceMember[],
  since: number,
): Promise<AudienceMember[]> {
  const ids = members.map(({ contactId }) => contactId)
  const rows = await read
    .selectFrom('contact_engagement')
    .select('contact_id')
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('last_sent_at', '>', since)
    .execute()
  const mailed = new Set(rows.map(({ contact_id }) => contact_id))
  return members.filter(({ contactId }) => mailed.has(contactId))
}

/** Those of some mails that were sent and belong to a campaign. */
async function ofCampaigns(
  read: Read,
  ids: string[],
): Promise<{ id: string; broadcastId: string }[]> {
  const rows = await read
    .selectFrom('emails')
    .select(['id', 'broadcast_id as broadcastId'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('status', 'not in', neverOut)
    .execute()
  return rows.flatMap(({ id, broadcastId }) => (broadcastId === null ? [] : [{ id, broadcastId }]))
}

/** The recipients of a campaign's mails that are not yet in the index of recipients. */
async function newestOf(read: Read, broadcastId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('emails')
    .select('to_list')
    .where('broadcast_id', '=', broadcastId)
    .where('id', '>', await readThrough(read))
    .where('status', 'not in', neverOut)
    .orderBy('id')
    .limit(mostNew)
    .execute()
  return rows.map(({ to_list }) => addressKey(onlyOf(to_list)))
}

const neverOut = ['cancelled', 'failed', 'suppressed'] as const
