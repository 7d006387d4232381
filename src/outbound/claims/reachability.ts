import type { SiteOutcome } from '../shaping/index.js'

/**
 * Whether servers can be reached at all, as one thread has seen it. It is shown to the operator and decides nothing.
 */
export interface Reachability {
  /** When a server last said anything, or the start of the thread if none has. */
  reachedAt: number
  /** Domains whose servers have been silent since `reachedAt`, but not before it. */
  unreached: Unreached[]
}

/** A domain whose servers have said nothing, and since when. */
interface Unreached {
  lane: string
  firstAt: number
  lastAt: number
  why: string
}

/** Records what the attempts tell. */
export interface ReachabilityRecord {
  /** How an attempt for the lane's mail ended; `why`: the reason that is shown. */
  note(lane: string, outcome: SiteOutcome, why: string, now: number): void
  tell(): Reachability
}

// A few tell a blocked port from dead domains; more say nothing more. A new one is left out and the oldest stays,
// because it tells since when nothing was reached.
const maxUnreached = 100
const maxDead = 10_000

/**
 * Keeps apart domains that are silent by themselves: a domain that stays silent while others answer is dead, and says
 * nothing about our way out when, at night, its mail is all that is tried.
 */
export function makeReachability(startedAt: number): ReachabilityRecord {
  const unreached = new Map<string, Unreached>()
  const dead = new Set<string>()
  let reachedAt = startedAt
  const failed = (lane: string, why: string, now: number) => {
    if (dead.has(lane)) return
    const known = unreached.get(lane)
    if (known === undefined && unreached.size >= maxUnreached) return
    unreached.set(lane, { lane, firstAt: known?.firstAt ?? now, lastAt: now, why })
  }
  return {
    note(lane, { kind, reply }, why, now) {
      if (kind === 'connect-failed' && reply === undefined) return failed(lane, why, now)
      reachedAt = now
      unreached.delete(lane)
      dead.delete(lane)
      for (const one of unreached.keys()) {
        if (dead.size < maxDead) dead.add(one)
      }
      unreached.clear()
    },
    tell: () => ({ reachedAt, unreached: [...unreached.values()] }),
  }
}
