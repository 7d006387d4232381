import { nextTurn } from '../bounded/index.js'
import type { Read } from '../store/index.js'
import type { ContactSearch } from './filters.js'
import { requireList } from './list.js'
import { contactsCsv, contactsHead } from './members.js'
import { findContacts } from './search.js'
import { contactTotal } from './total.js'

// How many are looked at for a number, with turns for others.
const mostPages = 40
const perPage = 500

/** How many contacts fit; `isAll` is false where more may fit than were counted. */
export async function countFitting(
  read: Read,
  accountId: string,
  search: ContactSearch,
  defaultCountry: string,
): Promise<{ count: number; isAll: boolean }> {
  const { listId, ...others } = search
  if (Object.values(others).every((one) => one === undefined)) {
    if (listId === undefined) return { count: await contactTotal(read, accountId), isAll: true }
    return { count: (await requireList(read, accountId, listId)).contactCount, isAll: true }
  }
  let count = 0
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const options = { limit: perPage, cursor, defaultCountry }
    const { members, nextCursor } = await findContacts(read, accountId, search, options)
    count += members.length
    if (nextCursor === null) return { count, isAll: true }
    cursor = nextCursor
    await nextTurn()
  }
  return { count, isAll: false }
}

/** Those who fit, as CSV, page by page; no cell is a formula. */
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
