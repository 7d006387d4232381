import { keepNewest } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'

/** What decides who may send and from where: each mail asks for it, and it changes seldom. */
export const remembered = [
  'api_keys',
  'operator_keys',
  'domains',
  'subscriptions',
  'receiving_rules',
] as const

/** Another process, such as a command of the operator's, is heard of within this. */
const longestMs = 1_000
const maxRemembered = 10_000

/**
 * Remembers what was read of the tables above, by a name, for a second at most, and not over a commit by which any
 * thread of this process changes one of them. What `lasts` says no to is looked up each time, so that nobody is
 * refused for what has passed.
 */
export function rememberRows<Found>(
  { store, clock }: { store: { changes(): number }; clock: Clock },
  lasts: (found: Found) => boolean,
): (name: string, look: () => Promise<Found>) => Promise<Found> {
  const known = new Map<string, { found: Promise<Found>; at: number; changes: number }>()
  return async (name, look) => {
    const [at, changes] = [clock.now(), store.changes()]
    const last = known.get(name)
    const isRecent = last !== undefined && last.at <= at && at - last.at < longestMs
    if (isRecent && last.changes === changes) return await last.found
    const asked = { found: look(), at, changes }
    keepNewest(known, name, asked, maxRemembered)
    let isLasting = false
    try {
      const found = await asked.found
      isLasting = lasts(found)
      return found
    } finally {
      if (!isLasting && known.get(name) === asked) known.delete(name)
    }
  }
}
