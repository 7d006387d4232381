import { type Plans, refuseBeyondCeiling } from '../billing/index.js'
import { nextTurn } from '../bounded/index.js'
import { type Clock, dayNumber } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { type ContactListRow, prepared, type Read, type Store, type Tx } from '../store/index.js'

/** What every change of contacts needs. */
export interface ContactDeps {
  store: Store
  clock: Clock
}

/** A list, and how many contacts are on it. */
export interface ContactList {
  id: string
  name: string
  contactCount: number
  /** People who are added one by one are first asked by mail, and so are those who sign up by a form. */
  doubleOptIn: boolean
  createdAt: number
}

/** The settings of a list. */
export interface ListSettings {
  name: string
  doubleOptIn?: boolean | undefined
}

/**
 * Two lists may have the same name. With `plans`, a 403 where there are enough. `alongside` is written in the same
 * transaction.
 */
export async function createList(
  { store, clock, plans }: ContactDeps & { plans?: Pick<Plans, 'ceilings'> },
  accountId: string,
  given: string | ListSettings,
  alongside: (tx: Tx, list: ContactList) => Promise<void> = async () => {},
): Promise<ContactList> {
  const id = store.ids.uuid()
  const { name, doubleOptIn = false } = typeof given === 'string' ? { name: given } : given
  const list = { id, name: name.trim(), contactCount: 0, doubleOptIn, createdAt: clock.now() }
  await store.write(async (tx) => {
    if (plans !== undefined) await refuseBeyondCeiling(tx, plans, accountId, 'lists')
    await tx
      .insertInto('contact_lists')
      .values({
        id: list.id,
        account_id: accountId,
        name: list.name,
        double_opt_in: doubleOptIn ? 1 : 0,
        created_at: list.createdAt,
        deleted_at: null,
      })
      .execute()
    await alongside(tx, list)
  })
  return list
}

/** Changes what is given. Throws a 404. */
export async function changeList(
  { store }: Pick<ContactDeps, 'store'>,
  accountId: string,
  id: string,
  given: Partial<ListSettings>,
): Promise<ContactList> {
  return await store.write(async (tx) => {
    const list = await requireList(tx, accountId, id)
    const name = given.name?.trim() ?? list.name
    const doubleOptIn = given.doubleOptIn ?? list.doubleOptIn
    await tx
      .updateTable('contact_lists')
      .set({ name, double_opt_in: doubleOptIn ? 1 : 0 })
      .where('id', '=', list.id)
      .execute()
    return { ...list, name, doubleOptIn }
  }, accountId)
}

// Reading this many takes a millisecond or two of a thread that others wait for.
const perSlice = 500

/** All lists, newest first; others have their turn after some of them. */
export async function listLists(read: Read, accountId: string): Promise<ContactList[]> {
  const lists: ContactList[] = []
  for (;;) {
    const some = await listsAfter(read, accountId, { after: lists.at(-1), limit: perSlice })
    lists.push(...some)
    if (some.length < perSlice) return lists
    await nextTurn()
  }
}

/** Some lists after a given one, newest first. */
async function listsAfter(
  read: Read,
  accountId: string,
  { after, limit }: { after?: Pick<ContactList, 'id' | 'createdAt'> | undefined; limit: number },
): Promise<ContactList[]> {
  const rows = await listsOf(read, accountId)
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(after?.createdAt ?? 0, after?.id ?? '')),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toList)
}

/** A page of an account's lists, newest first. `nextCursor`: the id of the last one; null at the end. */
export async function listPage(
  read: Read,
  accountId: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<{ page: ContactList[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : await requireList(read, accountId, cursor)
  const lists = await listsAfter(read, accountId, { after, limit: limit + 1 })
  const page = lists.slice(0, limit)
  return { page, nextCursor: lists.length > limit ? (page.at(-1)?.id ?? null) : null }
}

/** Throws a 404 unless the account has it. */
export async function requireList(read: Read, accountId: string, id: string): Promise<ContactList> {
  const [row] = await listById(read, { accountId, id: id.toLowerCase() })
  if (row === undefined)
    throw new ApiError('not_found', 'The account has no contact list with this id', {
      is: 'noList',
    })
  return toList(row)
}

/** Which import put a contact on a list, and from which line. */
export interface ImportOrigin {
  import_id: number | null
  line: number | null
}

/** Puts a contact on a list; resolves with whether that is new. */
export async function joinList(
  tx: Tx,
  listId: string,
  contactId: string,
  now: number,
  origin: ImportOrigin = { import_id: null, line: null },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('list_members')
    .values({ list_id: listId, contact_id: contactId, added_at: now, ...origin })
    .onConflict((conflict) => conflict.columns(['list_id', 'contact_id']).doNothing())
    .executeTakeFirstOrThrow()
  const joined = numInsertedOrUpdatedRows === 1n
  if (joined) await addToCount(tx, listId, 1, now)
  return joined
}

/** Belongs to every change of a list's members, in the same transaction; `change` is negative where some leave. */
export async function addToCount(
  tx: Tx,
  listId: string,
  change: number,
  now: number,
): Promise<void> {
  if (change === 0) return
  await addToMembers(tx, { listId, change })
  const [joined, gone] = [Math.max(0, change), Math.max(0, -change)]
  await addToDay(tx, { list_id: listId, day: dayNumber(now), joined, gone })
}

const addToMembers = prepared<{ listId: string; change: number }, unknown>(
  (db, { listId, change }) =>
    db
      .updateTable('contact_lists')
      .set((eb) => ({ contact_count: eb('contact_count', '+', change) }))
      .where('id', '=', listId),
)

const addToDay = prepared<{ list_id: string } & ListDay, unknown>((db, values) => {
  const { list_id, day, joined, gone } = values
  return db
    .insertInto('list_days')
    .values({ list_id, day, joined, gone })
    .onConflict((conflict) =>
      conflict.columns(['list_id', 'day']).doUpdateSet((eb) => ({
        joined: eb('list_days.joined', '+', eb.ref('excluded.joined')),
        gone: eb('list_days.gone', '+', eb.ref('excluded.gone')),
      })),
    )
})

/** How many joined and left a list on a day. */
export interface ListDay {
  /** Days since 1970, UTC. */
  day: number
  joined: number
  gone: number
}

/** The last `days` days of a list, including today, the oldest first; no day is missing. */
export async function listDays(
  read: Read,
  listId: string,
  { days, now }: { days: number; now: number },
): Promise<ListDay[]> {
  const first = dayNumber(now) - days + 1
  const rows = await read
    .selectFrom('list_days')
    .select(['day', 'joined', 'gone'])
    .where('list_id', '=', listId)
    .where('day', '>=', first)
    .execute()
  const known = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: days }, (_, n) => {
    const day = first + n
    return known.get(day) ?? { day, joined: 0, gone: 0 }
  })
}

/** The account's lists that are not deleted. */
const listsOf = (read: Read, accountId: string) =>
  read
    .selectFrom('contact_lists')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)

const listById = prepared<{ accountId: string; id: string }, Selected>((db, { accountId, id }) =>
  listsOf(db, accountId).where('id', '=', id),
)

/** A row as the other folders see it. */
const toList = (row: Selected): ContactList => ({
  id: row.id,
  name: row.name,
  contactCount: row.contact_count,
  doubleOptIn: row.double_opt_in === 1,
  createdAt: row.created_at,
})

/** A row as it is read: with generated columns. */
type Selected = Omit<ContactListRow, 'contact_count' | 'double_opt_in'> &
  Record<'contact_count' | 'double_opt_in', number>
