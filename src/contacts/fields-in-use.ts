import { jsonObjectIn } from '../json/index.js'
import type { Read } from '../store/index.js'

// So many of the newest contacts are looked at, and of the first by address: an import brings many who are alike.
const newest = 50
const first = 200
// So many are told: a menu has room for them, and a name of which a page shows all.
const mostFields = 50
const mostLetters = 60
// A name that a merge tag can have.
const tagName = /^[A-Za-z_][\w-]{0,63}$/
export const isTagName = (name: string): boolean => tagName.test(name)

/** The names of an account's own fields that its contacts have, as far as some of them tell; those of most contacts first. */
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
    // A row that is broken is named when mail is made of it.
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
