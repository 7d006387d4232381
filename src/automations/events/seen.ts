import { listEventNames } from '../../events/index.js'
import { isJsonObject } from '../../json/index.js'
import type { Read } from '../../store/index.js'

/** An event of an account that came, with the names of its payload's fields. */
export interface SeenEvent {
  name: string
  properties: string[]
}

const mostNames = 100
const mostProperties = 30

/** An account's own events that really came: an editor offers them, so that nobody mistypes a name. */
export async function seenEvents(read: Read, accountId: string): Promise<SeenEvent[]> {
  const names = await listEventNames(read, accountId, { limit: mostNames })
  return names
    .filter(({ name }) => !name.startsWith('$'))
    .map(({ name, sample }) => ({
      name,
      // A name with a dot would be read as a path.
      properties: (isJsonObject(sample) ? Object.keys(sample) : [])
        .filter((property) => /^[\w-]{1,60}$/.test(property))
        .slice(0, mostProperties),
    }))
}
