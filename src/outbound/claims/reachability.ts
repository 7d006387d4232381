import type { SiteOutcome } from '../shaping/index.js'

/** Whether servers can be reached at all, as one thread has seen it: for the operator, never for a decision. */
export interface Reachability {
  /** When a server last said anything; the start, where none has. */
  reachedAt: number
  /** Domains where none did since the last one that did, and that were not silent before it. */
  unreached: Unreached[]
}

/** A domain whose servers have said nothing, and since when. */
interface Unreached {
  lane: string
  firstAt: number
  lastAt: number
  why: string
}

/** What the attempts tell, and what is made of it. */
export interface ReachabilityRecord {
  /** How an attempt for the lane's mail ended; `why`: what is told of it. */
  note(lane: string, outcome: SiteOutcome, why: string, now: number): void
  tell(): Reachability
}

// What tells a blocked port from dead domains are a few; more say nothing more. A new one is left out and the oldest
// stays, which tells since when nothing was reached.
const maxUnreached = 100
const maxDead = 10_000

/**
 * Keeps apart what is silent by itself: a domain that stays silent while others answer is dead, and says
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
