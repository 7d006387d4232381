import { addressKey } from '../mime/index.js'
import { cell, idsOf, likeAnyCase, prepared, rowsOf, type Tx } from '../store/index.js'

/** Notes that something about these contacts has changed, or that they were deleted. */
export async function markChanged(
  tx: Tx,
  accountId: string,
  contactIds: readonly string[],
): Promise<void> {
  if (contactIds.length === 0 || !(await isFollowed(tx, accountId))) return
  await markIds(tx, { accountId, ids: JSON.stringify([...new Set(contactIds)].map((id) => [id])) })
}

/** Marks the contacts who have these addresses, if there are any. */
export async function markAddresses(
  tx: Tx,
  accountId: string,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0 || !(await isFollowed(tx, accountId))) return
  await markKeys(tx, { accountId, keys: JSON.stringify(addresses.map(addressKey)) })
}

/** Whether the account has segments, or automations that begin on a date of a contact. */
const isFollowed = async (tx: Tx, accountId: string): Promise<boolean> =>
  (await anyFollower(tx, { accountId })).length > 0

const anyFollower = prepared<{ accountId: string }, { id: string }>((db, { accountId }) =>
  db
    .selectFrom('segments')
    .select('id')
    .where('account_id', '=', accountId)
    .unionAll(
      db
        .selectFrom('automation_dates')
        .select('automation_id as id')
        .where('account_id', '=', accountId)
        .where('state', 'in', ['filling', 'current']),
    )
    .limit(1),
)

const markIds = prepared<{ accountId: string; ids: string }, unknown>((db, { accountId, ids }) =>
  db
    .insertInto('segment_changes')
    .columns(['account_id', 'contact_id'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(ids))
        .select([eb.val(accountId).as('account_id'), cell(0, 'text').as('contact_id')]),
    ),
)

const markKeys = prepared<{ accountId: string; keys: string }, unknown>((db, { accountId, keys }) =>
  db
    .insertInto('segment_changes')
    .columns(['account_id', 'contact_id'])
    .expression((eb) =>
      eb
        .selectFrom('contacts')
        .select(['account_id', 'id'])
        .where('account_id', '=', accountId)
        .where('address', 'in', idsOf(keys, 'text')),
    ),
)

/** Marks contacts of any accounts by their ids; ids of deleted contacts are passed over. */
export async function markContacts(tx: Tx, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length > 0) await markKnown(tx, { ids: JSON.stringify(contactIds) })
}

const markKnown = prepared<{ ids: string }, unknown>((db, { ids }) =>
  db
    .insertInto('segment_changes')
    .columns(['account_id', 'contact_id'])
    .expression((eb) =>
      eb
        .selectFrom('contacts')
        .select(['contacts.account_id', 'contacts.id'])
        .where('contacts.id', 'in', idsOf(ids, 'text'))
        .where(({ exists, or, selectFrom }) =>
          or([
            exists(
              selectFrom('segments')
                .select('segments.id')
                .whereRef('segments.account_id', '=', 'contacts.account_id'),
            ),
            exists(
              selectFrom('automation_dates as dates')
                .select('dates.automation_id')
                .whereRef('dates.account_id', '=', 'contacts.account_id')
                .where('dates.state', 'in', ['filling', 'current']),
            ),
          ]),
        ),
    ),
)

/**
 * Makes the segments whose rules name a part, such as `list.ID`, look at all contacts again: for a change that may
 * concern any of them. A judgement under way is then not written, as the segment's revision has changed.
 */
export async function refillNaming(tx: Tx, accountId: string, part: string): Promise<void> {
  await tx
    .updateTable('segments')
    .set(({ eb }) => ({ state: 'filling', cursor: '', revision: eb('revision', '+', 1) }))
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    // The id may be in any case. A text that only looks like one costs a needless look.
    .where(likeAnyCase('rule', part))
    .execute()
}
