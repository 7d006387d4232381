import { jsonObjectIn } from '../json/index.js'
import type { Read } from '../store/index.js'

// How many of the newest contacts are looked at, and how many of the first by address: an import brings many similar
// ones.
const newest = 50
const first = 200
// How many names are told: a menu has room for them, and a page shows all fields of a contact.
const mostFields = 50
const mostLetters = 60
// A name that a merge tag can have.
const tagName = /^[A-Za-z_][\w-]{0,63}$/
export const isTagName = (name: string): boolean => tagName.test(name)

/** The names of the account's own fields, as far as some of its contacts show them; the most frequent first. */
export async function fieldsInUse(read: Read, accountId: string): Promise<string[]> {
  const contacts = read
    .selectFrom('contacts')
    .select(['id', 'metadata'])
    .where('account_id', '=', accountId)
  const rows = [
    ...(await contacts.orderBy('id', 'desc').limit(newest).execute()),
    ...(await contacts.orderBy('address').limit(first).execute()),
  ]
  const found = new Map<string, number>()
  for (const { metadata } of new Map(rows.map((row) => [row.id, row])).values()) {
    // A damaged row is reported when mail is made from it.
    for (const [name, value] of Object.entries(jsonObjectIn(metadata ?? '') ?? {})) {
      if (typeof value === 'object' || name === '' || name.length > mostLetters) continue
      found.set(name, (found.get(name) ?? 0) + 1)
    }
  }
  return [...found]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, mostFields)
    .map(([name]) => name)
}
