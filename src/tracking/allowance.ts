import { keepNewest } from '../bounded/index.js'
import { hourMs } from '../clock/index.js'
import type { HitKind } from './machines.js'

/** How many more hits of a copy and kind may have an event of their own at `at`. */
export interface Allowance {
  /** Takes up to `wanted` and returns how many were left. */
  take(
    of: { deliveryId: number; kind: HitKind; machine: boolean },
    wanted: number,
    at: number,
  ): number
}

const minuteMs = 60_000
const freely = 30

/**
 * 30 events an hour for each copy, kind and sort of asker; then one a minute. Counts go on. The allowance bounds the
 * log, webhooks and memory when one address is fetched again and again.
 */
export function makeAllowance(maxCopies = 50_000): Allowance {
  const windows = new Map<string, { from: number; taken: number; lastAt: number }>()
  return {
    take({ deliveryId, kind, machine }, wanted, at) {
      if (wanted === 0) return 0
      const key = `${deliveryId} ${kind} ${machine}`
      let window = windows.get(key)
      if (window === undefined || at - window.from >= hourMs || at < window.from) {
        window = { from: at, taken: 0, lastAt: 0 }
        keepNewest(windows, key, window, maxCopies)
      }
      const free = Math.min(wanted, Math.max(0, freely - window.taken))
      const taken = free === 0 && at - window.lastAt >= minuteMs ? 1 : free
      window.taken += taken
      if (taken > 0) window.lastAt = at
      return taken
    },
  }
}
