import { blockedAmong } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { idsOf, prepared, type Read } from '../store/index.js'
import type { MergedContact } from '../templates/index.js'
import { type AudienceCount, countAudience } from './count-audience.js'
import { pageOfWhom } from './members.js'
import { type Audience, onlyListOf, requireWhom } from './whom.js'

/** A person of an audience, with what is merged into their mail. */
export interface AudienceMember extends MergedContact {
  contactId: string
}

/** Some of an audience, in the order of contacts' ids. */
export interface AudiencePage {
  reachable: AudienceMember[]
  /** The people who must not be mailed. */
  blocked: AudienceMember[]
  /** The last contact that was looked at: the cursor of the next page. */
  after: string
  /** These were the last. */
  done: boolean
}

/**
 * Which of the next `limit` contacts after `cursor` (a contact's id) are mailed. Throws a 404 where one of several
 * lists or segments was deleted: without it, people who were to be left out would be mailed.
 */
export async function nextOfAudience(
  read: Read,
  audience: Audience,
  cursor: string,
  limit: number,
): Promise<AudiencePage> {
  const { accountId, whom, topicId, type = 'marketing' } = audience
  const { seen, ...page } = await seenAfter(read, audience, cursor, limit)
  // Checked after they were read: a deletion first marks the list or segment, and then removes its people.
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

/** One list is read together with its contacts in one search: the most usual audience costs one statement a page. */
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
 * Contacts after a cursor, through the primary key of `list_members`: a page by number would read
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

/** Contacts by their ids, in the order of the ids. */
export const contactsOf = prepared<{ json: string }, AudienceMember>((db, { json }) =>
  db
    .selectFrom('contacts')
    .select(['id as contactId', 'email', 'first_name as firstName'])
    .select(['last_name as lastName', 'metadata'])
    .where('id', 'in', idsOf(json, 'text'))
    .orderBy('id'),
)

/** How many of an audience can be reached now; throws a 400 when nobody can. */
export async function reachableNow(read: Read, audience: Audience): Promise<AudienceCount> {
  const count = await countAudience(read, audience)
  refuseNobody(audience, count)
  return count
}

/** A 400 for an audience of which nobody can be reached. */
export function refuseNobody(
  { whom }: Pick<Audience, 'whom'>,
  { reachable }: Pick<AudienceCount, 'reachable'>,
): void {
  if (reachable > 0) return
  throw new ApiError(
    'validation_error',
    onlyListOf(whom) === undefined
      ? 'Nobody of the audience can be reached: nobody is in it, or all of them are suppressed or have left the topic'
      : 'Nobody on the list can be reached: the list is empty, or all its contacts are suppressed or have left the topic',
  )
}
