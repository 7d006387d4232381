import { enteredFor, readThrough } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import { addressKey } from '../mime/index.js'
import { firstUuidAt, idsIn, type Read } from '../store/index.js'
import { type AudienceMember, nextOfAudience } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { audienceOf } from './dispatch-campaign.js'
import { onlyOf } from './recipients.js'
import { neverSent } from './stop.js'

/*
 * Of a campaign whose rest was cancelled: to whom of its audience it never went out. There need be no mail of theirs, so it
 * is the audience that is gone through, from where its mails had come to.
 */

// Looked at for one page: each costs two searches a day that the campaign took.
const perPage = 500
const mostMails = 50
// So many are read in some tens of milliseconds.
const mostNew = 20_000

/** A page of them, in the order of contacts; `endsAt`: the contact behind whom the next one begins, null at the end. */
export async function pageOfNeverSent(
  read: Read,
  broadcast: Broadcast,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ people: AudienceMember[]; endsAt: string | null }> {
  if (neverSent(broadcast) === 0) return { people: [], endsAt: null }
  const newest = await notEntered(read, broadcast)
  const from = after ?? (await firstUnsent(read, broadcast))
  const page = await nextOfAudience(read, audienceOf(broadcast), from, perPage)
  const people: AudienceMember[] = []
  for (const member of page.reachable) {
    const address = addressKey(member.email)
    if (newest.has(address) || (await hasGot(read, broadcast, member.email))) continue
    // One more than fits says that there is another page.
    if (people.length === limit) return { people, endsAt: people.at(-1)?.contactId ?? null }
    people.push(member)
  }
  return { people, endsAt: page.done ? null : page.after }
}

/** The contact behind whom the first of them is: mails are made in their order, but for versions and own clocks. */
async function firstUnsent(read: Read, broadcast: Broadcast): Promise<string> {
  const { id, account_id: accountId, variant_test, local_zone, cursor, cancelled } = broadcast
  if (variant_test !== null || local_zone !== null) return ''
  if (cancelled === 0) return cursor
  const first = await read
    .selectFrom('emails')
    .select('to_list')
    .where('account_id', '=', accountId)
    .where('status', '=', 'cancelled')
    .where('id', '>=', firstUuidAt(broadcast.sent_at ?? 0))
    .where('broadcast_id', '=', id)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (first === undefined) return cursor
  const contact = await read
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(onlyOf(first.to_list)))
    .executeTakeFirst()
  // A cursor is behind what it names: what is shorter is before.
  return contact === undefined ? '' : contact.id.slice(0, -1)
}

/** Whom mails of its last minute went out to, which are not yet found by their recipients. Throws a 503 where they are many. */
async function notEntered(read: Read, { id }: Broadcast): Promise<ReadonlySet<string>> {
  const mails = await read
    .selectFrom('emails')
    .select(['to_list', 'status'])
    .where('broadcast_id', '=', id)
    .where('id', '>', await readThrough(read))
    .orderBy('id')
    .limit(mostNew)
    .execute()
  if (mails.length === mostNew) {
    const message = 'Its mails of the last minute are still being entered; try again in a minute'
    throw new ApiError('service_unavailable', message, { headers: { 'retry-after': '30' } })
  }
  const out = mails.filter(({ status }) => status !== 'cancelled')
  return new Set(out.map(({ to_list }) => addressKey(onlyOf(to_list))))
}

/** Whether a mail of the campaign has gone out to the address, or was to go out and has ended otherwise. */
async function hasGot(read: Read, broadcast: Broadcast, address: string): Promise<boolean> {
  const { id, account_id: accountId, sent_at, ended_at } = broadcast
  const since = firstUuidAt(sent_at ?? 0)
  // What was made in the same millisecond is of it too.
  const until = firstUuidAt((ended_at ?? 0) + 1)
  const ids = await enteredFor(read, { accountId, address }, { since, until, limit: mostMails })
  if (ids.length === 0) return false
  const mail = await read
    .selectFrom('emails')
    .select('id')
    .where('id', 'in', idsIn(ids, 'text'))
    .where('broadcast_id', '=', id)
    .where('status', '<>', 'cancelled')
    .limit(1)
    .executeTakeFirst()
  return mail !== undefined
}
