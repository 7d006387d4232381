import { makeSharedCounts, type SharedCounts } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { makeRateExchange } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import type { Chore } from './housekeeping.js'

// Told within half a second and heard within another half: a count is at most a second old.
const everyMs = 500

/** What a thread of one of several nodes counts together with the others; undefined for an appliance that is alone. */
export const sharedCountsOf = ({ node, store }: Pick<Config, 'node' | 'store'>) =>
  node.join && store.url !== '' ? makeSharedCounts() : undefined

/**
 * Tells and hears of counts, and only every other time while nobody comes near a limit. Where nobody asks and nobody
 * else commits there is nothing to hear.
 */
export function rateChores(
  deps: { store: Pick<Store, 'read' | 'byRow' | 'node' | 'commits'>; clock: Clock },
  counts: SharedCounts | undefined,
): Chore[] {
  if (counts === undefined) return []
  const exchange = makeRateExchange(deps, counts)
  let mayRest = false
  let seen: string | undefined
  return [
    {
      name: 'counts of requests',
      of: 'node',
      everyMs,
      async run() {
        const now = `${counts.asked()} ${deps.store.commits()}`
        if (now === seen && counts.untold(deps.clock.now(), 1).length === 0) return
        if (mayRest && counts.untold(deps.clock.now(), 1).length === 0) {
          mayRest = false
          return
        }
        mayRest = !(await exchange.run())
        seen = now
      },
    },
  ]
}
