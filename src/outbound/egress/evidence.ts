/** What one thread has seen of the way out since it last told the others. Bounded. */
export interface ReachEvidence {
  add(site: string, reached: boolean, now: number): void
  /** Sites that gave no connection since any did, as far as they were not taken before. */
  take(now: number): string[]
  /** When one last did; 0 for never. */
  readonly reachedAt: number
}

// Sites that are kept: far more than any threshold. More would say no more, so a new one is left out, and none that
// was told to the others is forgotten early for it.
const maxSites = 1_000

/**
 * A thread that reaches any site is not cut off, so failures before that are dropped, most of them
 * before anybody wrote them down.
 */
export function makeReachEvidence(windowMs: number): ReachEvidence {
  /** When each was told to the others; undefined: not yet. */
  const unreached = new Map<string, number | undefined>()
  let reachedAt = 0
  return {
    add(site, reached, now) {
      if (reached) {
        unreached.clear()
        reachedAt = now
        return
      }
      if (unreached.has(site) || unreached.size >= maxSites) return
      unreached.set(site, undefined)
    },
    take(now) {
      const sites: string[] = []
      for (const [site, toldAt] of unreached) {
        if (toldAt === undefined) {
          sites.push(site)
          unreached.set(site, now)
        } else if (now - toldAt >= windowMs) unreached.delete(site)
      }
      return sites
    },
    get reachedAt() {
      return reachedAt
    },
  }
}
