import { prepared, type Read } from '../store/index.js'

/*
 * Names and phone numbers come in no order. In one index of a million of them each new contact changes a page of its
 * own, which is then written to the log and copied into the database: that was half of what an import took. So an
 * account's contacts stand on shelves, some thousands on each as they come, and the indexes have one shelf after
 * another: only the last one, of some dozens of pages, is changed by many at once. A search looks at each shelf, in one
 * statement.
 */

/** By which columns contacts are found on shelves. */
export type ShelvedColumn = 'name_key' | 'last_name_key' | 'phone'

// A million contacts are on 245 shelves, in each of which a search is a few microseconds.
const perShelf = 4_096

/** The shelf of the next contact of an account that has so many. */
export const shelfAfter = (contacts: number): number => Math.floor(contacts / perShelf)

/** The account's shelves up to the last one that has such a value. */
export async function shelvesOf(
  read: Read,
  accountId: string,
  column: ShelvedColumn,
): Promise<number[]> {
  const [last] = await lastShelf[column](read, { accountId })
  return last === undefined ? [] : Array.from({ length: last.shelf + 1 }, (_, shelf) => shelf)
}

const lastShelfOf = (column: ShelvedColumn) =>
  prepared<{ accountId: string }, { shelf: number }>((db, { accountId }) =>
    db
      .selectFrom('contacts')
      .select('shelf')
      .where('account_id', '=', accountId)
      .where(column, 'is not', null)
      .orderBy('shelf', 'desc')
      .limit(1),
  )

const lastShelf = {
  name_key: lastShelfOf('name_key'),
  last_name_key: lastShelfOf('last_name_key'),
  phone: lastShelfOf('phone'),
} as const
