import { isoTime } from '../clock/index.js'
import { listEventNames } from '../events/index.js'
import { pageOf, type Read, textCursorOf, textInCursor } from '../store/index.js'
import type { Versions } from './definition/index.js'
import { hearersOf } from './events/index.js'

/** The names of an account's events, with who hears them, as clients see them. */
export async function eventNamesAnswer(
  { read, versions }: { read: Read; versions: Versions },
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const scope = `event names ${accountId}`
  const after = cursor === undefined ? undefined : textInCursor(cursor, scope)
  const found = await listEventNames(read, accountId, { limit: limit + 1, after })
  const { page, ...more } = pageOf(found, limit, ({ name }) => textCursorOf(name, scope))
  const hearers = await hearersOf(read, versions, accountId)
  return {
    names: page.map(({ name, count, lastAt, sample = null }) => ({
      name,
      count,
      lastAt: isoTime(lastAt),
      sample,
      heardBy: hearers.get(name) ?? [],
    })),
    ...more,
  }
}
