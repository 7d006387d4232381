import type { Read } from '../store/index.js'

// Of the newest contacts so many are looked at, and so many fields are told: a menu has room for them.
const sampled = 50
const mostFields = 20
// A name that a merge tag can have.
const tagName = /^[A-Za-z_][\w-]{0,63}$/

/** The names of an account's own fields that its newest contacts have, those of most contacts first: what merge tags can name. */
export async function fieldsInUse(read: Read, accountId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('contacts')
    .select('metadata')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(sampled)
    .execute()
  const found = new Map<string, number>()
  for (const { metadata } of rows) {
    const own: Record<string, unknown> = metadata === null ? {} : JSON.parse(metadata)
    for (const [name, value] of Object.entries(own)) {
      if (typeof value === 'object' || !tagName.test(name)) continue
      found.set(name, (found.get(name) ?? 0) + 1)
    }
  }
  return [...found]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, mostFields)
    .map(([name]) => name)
}
