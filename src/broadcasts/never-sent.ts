import { enteredFor, readThrough } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import { addressKey } from '../mime/index.js'
import { firstUuidAt, idsIn, type Read } from '../store/index.js'
import { type AudienceMember, nextOfAudience } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { onlyOf } from './recipients.js'
import { audienceOf } from './standing.js'
import { neverSent } from './stop.js'

/*
 * For a campaign whose rest was cancelled: the people of its audience to whom it was never sent. They need not have a
 * mail, so the audience is read, from the place that its mails had reached.
 */

// How many people are looked at for a page: each costs two searches for each day that the campaign took.
const perPage = 500
const mostMails = 50
// This many are read in some tens of milliseconds.
const mostNew = 20_000

/**
 * A page of these people, in the order of contacts; `endsAt`: the contact after whom the next page begins, null at the
 * end.
 */
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
    // One more than fits tells that there is another page.
    if (people.length === limit) return { people, endsAt: people.at(-1)?.contactId ?? null }
    people.push(member)
  }
  return { people, endsAt: page.done ? null : page.after }
}

/** The contact after whom the first of them is: mails are made in their order, except for versions and own clocks. */
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
  // A page begins after its cursor; a shortened id sorts before the whole one.
  return contact === undefined ? '' : contact.id.slice(0, -1)
}

/**
 * The recipients of its last minute's mails, which are not yet in the index of recipients. Throws a 503 where they are
 * many.
 */
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

/** Whether a mail of the campaign was sent to the address, or should have been and has ended otherwise. */
async function hasGot(read: Read, broadcast: Broadcast, address: string): Promise<boolean> {
  const { id, account_id: accountId, sent_at, ended_at } = broadcast
  const since = firstUuidAt(sent_at ?? 0)
  // Includes what was made in the same millisecond.
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
