import { blockedAmong } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { idsOf, prepared, type Read } from '../store/index.js'
import type { MergedContact } from '../templates/index.js'
import { type AudienceCount, countAudience } from './count-audience.js'
import { pageOfWhom } from './members.js'
import { type Audience, onlyListOf, requireWhom } from './whom.js'

/** Somebody of an audience, with what is merged into their mail. */
export interface AudienceMember extends MergedContact {
  contactId: string
}

/** Some of an audience, in the order of contacts' ids. */
export interface AudiencePage {
  reachable: AudienceMember[]
  /** Those who must not be mailed. */
  blocked: AudienceMember[]
  /** Up to whom it was looked at: the cursor of the next page. */
  after: string
  /** These were the last. */
  done: boolean
}

/**
 * Who of the next `limit` contacts after `cursor` (a contact's id) is mailed. Throws a 404 where a list or segment of
 * several is gone: without it people who were left out would be mailed.
 */
export async function nextOfAudience(
  read: Read,
  audience: Audience,
  cursor: string,
  limit: number,
): Promise<AudiencePage> {
  const { accountId, whom, topicId, type = 'marketing' } = audience
  const { seen, ...page } = await seenAfter(read, audience, cursor, limit)
  // After they were read: what is deleted is marked first, and then its people go.
  if (onlyListOf(whom) === undefined) await requireWhom(read, accountId, whom)
  const blocked = await blockedAmong(
    read,
    { accountId, type, topicId },
    seen.map(({ email }) => email),
  )
  const isBlocked = ({ email }: AudienceMember) => blocked.has(email)
  return {
    reachable: seen.filter((one) => !isBlocked(one)),
    blocked: seen.filter(isBlocked),
    ...page,
  }
}

/** One list is read with its contacts in one search: the most usual audience costs one statement a page. */
async function seenAfter(
  read: Read,
  { whom }: Audience,
  cursor: string,
  limit: number,
): Promise<{ seen: AudienceMember[]; after: string; done: boolean }> {
  const listId = onlyListOf(whom)
  if (listId !== undefined) {
    const seen = await membersAfter(read, { listId, cursor, limit })
    return { seen, after: seen.at(-1)?.contactId ?? cursor, done: seen.length < limit }
  }
  const { ids, next } = await pageOfWhom(read, whom, cursor, limit)
  const seen = ids.length === 0 ? [] : await contactsOf(read, { json: JSON.stringify(ids) })
  return { seen, after: next ?? ids.at(-1) ?? cursor, done: next === null }
}

/**
 * By contact after a cursor, through the primary key of `list_members`: a page by number would read
 * the list from its start each time.
 */
const membersAfter = prepared<{ listId: string; cursor: string; limit: number }, AudienceMember>(
  (db, { listId, cursor, limit }) =>
    db
      .selectFrom('list_members')
      .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
      .select(['contact_id as contactId', 'email', 'first_name as firstName'])
      .select(['last_name as lastName', 'metadata'])
      .where('list_id', '=', listId)
      .where('contact_id', '>', cursor)
      .orderBy('contact_id')
      .limit(limit),
)

/** Contacts by their ids, in the order of these. */
export const contactsOf = prepared<{ json: string }, AudienceMember>((db, { json }) =>
  db
    .selectFrom('contacts')
    .select(['id as contactId', 'email', 'first_name as firstName'])
    .select(['last_name as lastName', 'metadata'])
    .where('id', 'in', idsOf(json, 'text'))
    .orderBy('id'),
)

/** How many of an audience can be reached now; throws a 400 when it is nobody. */
export async function reachableNow(read: Read, audience: Audience): Promise<AudienceCount> {
  const count = await countAudience(read, audience)
  if (count.reachable > 0) return count
  const isList = onlyListOf(audience.whom) !== undefined
  throw new ApiError(
    'validation_error',
    isList
      ? 'Nobody on the list can be reached: the list is empty, or all its contacts are suppressed or have left the topic'
      : 'Nobody of the audience can be reached: nobody is in it, or all of them are suppressed or have left the topic',
  )
}
