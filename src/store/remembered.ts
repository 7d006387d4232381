import { keepNewest } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'

/** The tables that decide who may send and from where: each mail asks for them, and they change seldom. */
export const remembered = [
  'api_keys',
  'operator_keys',
  'domains',
  'subscriptions',
  'receiving_rules',
] as const

/** A change by another process, such as an operator's command, is seen within this time. */
const longestMs = 1_000
const maxRemembered = 10_000

/**
 * Remembers what was read from the tables above, by a name, for a second at most, and no longer than until any thread
 * of this process commits a change to one of them. A result for which `lasts` says no is looked up each time, so that
 * nobody is refused for a reason that has passed.
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
