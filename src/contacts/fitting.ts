import { nextTurn } from '../bounded/index.js'
import type { Read } from '../store/index.js'
import type { ContactSearch } from './filters.js'
import { requireList } from './list.js'
import { contactsCsv, contactsHead } from './members.js'
import { findContacts } from './search.js'
import { contactTotal } from './total.js'

// How many pages are read for a number, with turns for others.
const mostPages = 40
const perPage = 500

/**
 * How many contacts match; `isAll` is false where more may match than were counted. `through`: counts only contacts
 * that are no newer than this one.
 */
export async function countFitting(
  read: Read,
  accountId: string,
  search: ContactSearch,
  defaultCountry: string,
  through?: string,
): Promise<{ count: number; isAll: boolean }> {
  const all = await knownNumber(read, accountId, search)
  if (all !== undefined) {
    const later =
      through === undefined ? 0 : await countLater(read, accountId, through, search.listId)
    return { count: all - later, isAll: true }
  }
  let count = 0
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const options = { limit: perPage, cursor, defaultCountry }
    const { members, nextCursor } = await findContacts(read, accountId, search, options)
    count += members.filter(({ id }) => through === undefined || id <= through).length
    if (nextCursor === null) return { count, isAll: true }
    cursor = nextCursor
    await nextTurn()
  }
  return { count, isAll: false }
}

/** How many match, where a counter says it: all of the account, or of a list. */
export async function knownNumber(
  read: Read,
  accountId: string,
  { listId, ...others }: ContactSearch,
): Promise<number | undefined> {
  if (Object.values(others).some((one) => one !== undefined)) return undefined
  if (listId === undefined) return await contactTotal(read, accountId)
  return (await requireList(read, accountId, listId)).contactCount
}

// Beyond this number, later contacts are not counted: the number is a different one in any case.
const mostLater = 100_000

/** How many contacts of the account, or of a list, are newer than this one. */
async function countLater(
  read: Read,
  accountId: string,
  through: string,
  listId: string | undefined,
): Promise<number> {
  const later =
    listId === undefined
      ? read
          .selectFrom('contacts')
          .select('id')
          .where('account_id', '=', accountId)
          .where('id', '>', through)
          .limit(mostLater)
      : read
          .selectFrom('list_members')
          .select('contact_id as id')
          .where('list_id', '=', listId.toLowerCase())
          .where('contact_id', '>', through)
          .limit(mostLater)
  const { count } = await read
    .selectFrom(later.as('later'))
    .select((eb) => eb.fn.countAll<number | bigint>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The matching contacts as CSV, page by page; no cell is a formula. */
export async function* exportFitting(
  read: Read,
  accountId: string,
  search: ContactSearch,
  defaultCountry: string,
): AsyncGenerator<string> {
  yield contactsHead()
  let cursor: string | undefined
  do {
    const options = { limit: perPage, cursor, defaultCountry }
    const { members, nextCursor } = await findContacts(read, accountId, search, options)
    yield contactsCsv(members)
    cursor = nextCursor ?? undefined
    await nextTurn()
  } while (cursor !== undefined)
}
