import { nextTurn } from '../bounded/index.js'
import { requireList } from '../contacts/index.js'
import { blockedAmong } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { idsOf, prepared, type Read } from '../store/index.js'
import type { MergedContact } from '../templates/index.js'

/** Whom a campaign is for: a list, less who is suppressed or has left its topic. */
export interface Audience {
  accountId: string
  listId: string
  topicId: string | null
}

/** A contact on the list, with what is merged into its mail. */
export interface AudienceMember extends MergedContact {
  contactId: string
}

// A few milliseconds of reading; between them others have their turn.
const perPage = 1_000

/**
 * The next `limit` contacts of the list after `cursor` (a contact's id), and who of them is mailed.
 * Fewer in `seen` than `limit`: they were the last.
 */
export async function nextOfAudience(
  read: Read,
  audience: Audience,
  cursor: string,
  limit: number,
): Promise<{ seen: AudienceMember[]; reachable: AudienceMember[] }> {
  const { accountId, listId, topicId } = audience
  const seen = await membersAfter(read, { listId, cursor, limit })
  const blocked = await blockedAmong(
    read,
    { accountId, type: 'marketing', topicId },
    seen.map(({ email }) => email),
  )
  return { seen, reachable: seen.filter(({ email }) => !blocked.has(email)) }
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

/**
 * How many would be mailed now. Counts who must not be, who are few, and not the list, which has its
 * number; throws a 404 for a list that is not the account's.
 */
export async function countAudience(read: Read, audience: Audience): Promise<number> {
  const { contactCount } = await requireList(read, audience.accountId, audience.listId)
  let blocked = 0
  for (const table of ['suppressions', 'topic_opt_outs'] as const) {
    if (table === 'topic_opt_outs' && audience.topicId === null) continue
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await blockedPage(read, audience, table, after)
      blocked += page.onList
      after = page.last
      // The thread has clients that wait.
      await nextTurn()
    }
  }
  return Math.max(0, contactCount - blocked)
}

/** How many of an audience can be reached now; throws a 400 when it is nobody. */
export async function reachableNow(read: Read, audience: Audience): Promise<number> {
  const count = await countAudience(read, audience)
  if (count > 0) return count
  throw new ApiError(
    'validation_error',
    'Nobody on the list can be reached: the list is empty, or all its contacts are suppressed or have left the topic',
  )
}

/** A page of those who must not be mailed, each address once whatever it is there for. */
async function blockedPage(
  read: Read,
  { accountId, listId, topicId }: Audience,
  table: 'suppressions' | 'topic_opt_outs',
  after: string,
): Promise<{ onList: number; last: string | undefined }> {
  const addresses =
    table === 'suppressions'
      ? await suppressedAfter(read, { accountId, after, limit: perPage })
      : await leftAfter(read, { accountId, topicId, after, limit: perPage })
  const json = JSON.stringify(addresses.map(({ address }) => address))
  const [found] = await onList(read, { accountId, listId, json })
  const last = addresses.length < perPage ? undefined : addresses.at(-1)?.address
  return { onList: found?.members ?? 0, last }
}

// One address may have several reasons.
const suppressedAfter = prepared<
  { accountId: string; after: string; limit: number },
  { address: string }
>((db, { accountId, after, limit }) =>
  db
    .selectFrom('suppressions')
    .select('address')
    .distinct()
    .where('account_id', '=', accountId)
    .where('address', '>', after)
    .orderBy('address')
    .limit(limit),
)

// Who is suppressed too was counted there.
const leftAfter = prepared<
  { accountId: string; topicId: string | null; after: string; limit: number },
  { address: string }
>((db, { accountId, topicId, after, limit }) =>
  db
    .selectFrom('topic_opt_outs')
    .select('address')
    .where('account_id', '=', accountId)
    .where('topic_id', '=', topicId)
    .where('address', '>', after)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('suppressions')
            .select('suppressions.address')
            .whereRef('suppressions.account_id', '=', 'topic_opt_outs.account_id')
            .whereRef('suppressions.address', '=', 'topic_opt_outs.address'),
        ),
      ),
    )
    .orderBy('address')
    .limit(limit),
)

/**
 * Those of the suppressed addresses that are on the list; the difference is whom the campaign
 * reaches.
 */
const onList = prepared<{ accountId: string; listId: string; json: string }, { members: number }>(
  (db, { accountId, listId, json }) =>
    db
      .selectFrom('contacts')
      .innerJoin('list_members', 'list_members.contact_id', 'contacts.id')
      .select((eb) => eb.fn.countAll<number>().as('members'))
      .where('account_id', '=', accountId)
      .where('address', 'in', idsOf(json, 'text'))
      .where('list_id', '=', listId),
)
