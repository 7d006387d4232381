import { nextTurn } from '../bounded/index.js'
import { markChanged, refillNaming } from '../changes/index.js'
import { pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetContacts } from '../runs/index.js'
import { eachApart, idsIn, type Read, type Tx } from '../store/index.js'
import { contactsOfIds } from './contact.js'
import { keepName } from './gone-names.js'
import { keepOrigins } from './history.js'
import { refuseImporting } from './import-task/onto.js'
import type { ContactDeps, ContactList } from './list.js'
import { addToCount, requireList } from './list.js'
import { addToTotal } from './total.js'

// How many members one transaction removes, for which other writes wait.
const perWrite = 200
// The rest between two of these: nobody waits for the removal, but others write meanwhile.
const restMs = 20
// For how many removals a client waits; the contacts of a longer list are removed in the background
// (`removeDeletedLists`).
const atOnce = 5_000

/**
 * Takes a contact off a list; a contact who is then on no list is deleted. Suppression remains. Resolves with who it
 * was.
 */
export async function removeFromList(
  { store, clock }: ContactDeps,
  accountId: string,
  listId: string,
  contactId: string,
): Promise<{ email?: string | undefined; list: string }> {
  return await store.write(async (tx) => {
    const list = await requireList(tx, accountId, listId)
    const row = await contactsOfIds(tx, accountId, [contactId]).executeTakeFirst()
    await keepOrigins(tx, list.id, [contactId])
    if (!(await takeOff(tx, list.id, contactId, clock.now()))) {
      throw new ApiError('not_found', 'The list has no contact with this id')
    }
    await deleteListless(tx, accountId, [contactId], clock.now())
    return { email: row?.email, list: list.name }
  }, accountId)
}

/** Resolves with whether the contact was on the list. */
export async function takeOff(
  tx: Tx,
  listId: string,
  contactId: string,
  now: number,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('list_members')
    .where('list_id', '=', listId)
    .where('contact_id', '=', contactId)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  await addToCount(tx, listId, -1, now)
  return true
}

/**
 * Deletes the contact with an address or id, from all lists; also one on no list, as events make them. It is
 * irreversible. Suppression remains. Throws a 404.
 */
export async function deleteContact(
  { store, clock }: ContactDeps,
  accountId: string,
  whom: string,
): Promise<{ id: string; email: string }> {
  return await store.write(async (tx) => {
    const contact = await contactWith(tx, accountId, whom)
    await takeOffAll(tx, contact.id, clock.now())
    await deleteListless(tx, accountId, [contact.id], clock.now())
    return contact
  }, accountId)
}

/** Takes a contact off all of its lists. */
export async function takeOffAll(tx: Tx, contactId: string, now: number): Promise<void> {
  const lists = await tx
    .selectFrom('list_members')
    .select('list_id')
    .where('contact_id', '=', contactId)
    .execute()
  for (const { list_id: listId } of lists) {
    await keepOrigins(tx, listId, [contactId])
    await takeOff(tx, listId, contactId, now)
  }
}

/** On how many lists the contact is, and how many runs of automations it is in. Throws a 404. */
export async function whatDeletionTakes(read: Read, accountId: string, whom: string) {
  const contact = await contactWith(read, accountId, whom)
  const countIn = async (table: 'list_members' | 'automation_live') => {
    const { count } = await read
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('contact_id', '=', contact.id)
      .executeTakeFirstOrThrow()
    return count
  }
  return {
    ...contact,
    lists: await countIn('list_members'),
    runs: await countIn('automation_live'),
  }
}

/** The contact with this address, or with this id. Throws a 404. */
async function contactWith(
  read: Read,
  accountId: string,
  whom: string,
): Promise<{ id: string; email: string }> {
  const named = whom.trim().toLowerCase()
  const contact = await read
    .selectFrom('contacts')
    .select(['id', 'email'])
    .where('account_id', '=', accountId)
    // Every address contains an @.
    .where(named.includes('@') ? 'address' : 'id', '=', named)
    .executeTakeFirst()
  if (contact === undefined) throw new ApiError('not_found', `The account has no contact ${whom}`)
  return contact
}

/**
 * Deletes a list and the contacts that are then on no list, irreversibly. The list is gone at once for everybody; the
 * contacts of a long one follow in slices. Suppression remains. Throws a 409 while an import by a page puts people on
 * it. Resolves with what it was.
 */
export async function deleteList(
  { store, clock }: ContactDeps,
  accountId: string,
  listId: string,
): Promise<ContactList> {
  const gone = await store.write(async (tx) => {
    const list = await requireList(tx, accountId, listId)
    const { id } = list
    await refuseImporting(tx, accountId, id)
    await keepName(tx, accountId, list)
    await tx
      .updateTable('contact_lists')
      .set({ deleted_at: clock.now() })
      .where('id', '=', id)
      .execute()
    await refillNaming(tx, accountId, `list.${id}`)
    return list
  }, accountId)
  for (let taken = 0; taken < atOnce; taken += perWrite) {
    if (await takeSlice({ store, clock }, accountId, listId)) break
  }
  return gone
}

// How many members are checked for other lists: that takes some milliseconds, with turns for others.
const looked = 20_000
const perLook = 2_000

/** How many of a list's contacts are on no other list. `of`: how many were checked, where that were not all. */
export async function onlyOnList(
  read: Read,
  listId: string,
): Promise<{ count: number; of: number | undefined }> {
  let [count, of, after] = [0, 0, '']
  while (of < looked) {
    const members = await read
      .selectFrom('list_members')
      .select(({ exists, selectFrom }) => [
        'contact_id',
        exists(
          selectFrom('list_members as other')
            .innerJoin('contact_lists', 'contact_lists.id', 'other.list_id')
            .select('other.list_id')
            .whereRef('other.contact_id', '=', 'list_members.contact_id')
            .where('other.list_id', '<>', listId)
            .where('contact_lists.deleted_at', 'is', null),
        ).as('elsewhere'),
      ])
      .where('list_id', '=', listId)
      .where('contact_id', '>', after)
      .orderBy('contact_id')
      .limit(perLook)
      .execute()
    of += members.length
    count += members.filter(({ elsewhere }) => !elsewhere).length
    after = members.at(-1)?.contact_id ?? after
    if (members.length < perLook) return { count, of: undefined }
    await nextTurn()
  }
  return { count, of }
}

/** Finishes deletions, also those that a stop or a crash cut short. */
export async function removeDeletedLists(
  { store, clock, log }: ContactDeps & { log: Log },
  signal: AbortSignal,
): Promise<void> {
  const lists = await store.read
    .selectFrom('contact_lists')
    .select(['id', 'account_id'])
    .where('deleted_at', 'is not', null)
    .execute()
  const remove = async ({ id, account_id }: (typeof lists)[number]) => {
    while (!signal.aborted && !(await takeSlice({ store, clock }, account_id, id))) {
      await pause(clock, restMs, signal)
    }
  }
  await eachApart(lists, remove, ({ id, account_id }, error) =>
    log.error({ error, listId: id, accountId: account_id }, 'A deleted list cannot be removed'),
  )
}

/** Resolves with whether nothing is left, the list itself included. */
function takeSlice(
  { store, clock }: ContactDeps,
  accountId: string,
  listId: string,
): Promise<boolean> {
  return store.write(async (tx) => {
    const members = await tx
      .selectFrom('list_members')
      .select('contact_id')
      .where('list_id', '=', listId)
      .limit(perWrite)
      .execute()
    const ids = members.map((member) => member.contact_id)
    await keepOrigins(tx, listId, ids)
    await tx
      .deleteFrom('list_members')
      .where('list_id', '=', listId)
      .where('contact_id', 'in', idsIn(ids, 'text'))
      .execute()
    await deleteListless(tx, accountId, ids, clock.now())
    if (ids.length === perWrite) return false
    await tx.deleteFrom('list_days').where('list_id', '=', listId).execute()
    await tx.deleteFrom('contact_lists').where('id', '=', listId).execute()
    return true
  }, accountId)
}

/**
 * Deletes those of these contacts who are on no list. The ids come from a list of the account, and only they are used:
 * with the account in the query SQLite would read all of its contacts.
 */
export async function deleteListless(
  tx: Tx,
  accountId: string,
  ids: readonly string[],
  now: number,
) {
  const deleted = await tx
    .deleteFrom('contacts')
    .where('id', 'in', idsIn(ids, 'text'))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('list_members')
            .select('contact_id')
            .whereRef('contact_id', '=', 'contacts.id'),
        ),
      ),
    )
    .returning('id')
    .execute()
  await addToTotal(tx, accountId, -deleted.length)
  // Marks both the deleted contacts and those who have only left a list.
  await markChanged(tx, accountId, ids)
  await forgetContacts(
    tx,
    deleted.map(({ id }) => id),
    now,
  )
}
