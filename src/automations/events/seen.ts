import { type Read, storedObject } from '../../store/index.js'

/** An event of an account that came, with the names of its payload's fields. */
export interface SeenEvent {
  name: string
  properties: string[]
}

// The newest events of all accounts that are looked at: a walk along the key, some milliseconds.
const looked = 2_000
const mostNames = 50
const mostProperties = 30

/** Which of an account's own events came lately, the latest first: an editor offers them, so that nobody mistypes one. */
export async function seenEvents(read: Read, accountId: string): Promise<SeenEvent[]> {
  const rows = await read
    .selectFrom((eb) =>
      eb
        .selectFrom('automation_events')
        .select(['id', 'account_id', 'name', 'payload'])
        .orderBy('id', 'desc')
        .limit(looked)
        .as('latest'),
    )
    .select(['name', 'payload'])
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .execute()
  const seen = new Map<string, Set<string>>()
  for (const { name, payload } of rows) {
    if (name.startsWith('$') || (!seen.has(name) && seen.size >= mostNames)) continue
    const properties = seen.get(name) ?? new Set<string>()
    seen.set(name, properties)
    for (const property of payload === null ? [] : Object.keys(storedObject(payload))) {
      // A dot would be a path within it.
      if (properties.size < mostProperties && /^[\w-]{1,60}$/.test(property))
        properties.add(property)
    }
  }
  return [...seen].map(([name, properties]) => ({ name, properties: [...properties] }))
}
