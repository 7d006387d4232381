import { isRecent } from '../../clock/index.js'

/** What one thread has seen of the way out since it last told the others. Bounded. */
export interface ReachEvidence {
  add(seen: UnreachedSite, reached: boolean, now: number): void
  /** Sites that gave no connection since any site gave one, as far as they were not taken before. */
  take(now: number): UnreachedSite[]
  /** When a site last gave a connection; 0 for never. */
  readonly reachedAt: number
}

/** A site that gave no connection, and the account whose mail was for it. */
export interface UnreachedSite {
  site: string
  accountId: string
}

/** A site whose server said that our address is blocked, and for how long its mail goes another way at least. */
export interface RefusedSite extends UnreachedSite {
  reply: string
  until: number
}

// How many sites of an account, and how many accounts, are kept: far more than any threshold. More would say no more,
// so a new one is left out; a site that was told to the others is not forgotten early for it.
const maxSites = 1_000
const maxAccounts = 20

/**
 * A thread that reaches any site is not cut off, so earlier failures are dropped, most of them before they are
 * written.
 */
export function makeReachEvidence(windowMs: number): ReachEvidence {
  /** By account, when each site was told to the others; undefined: not yet. */
  const unreached = new Map<string, Map<string, number | undefined>>()
  let reachedAt = 0
  return {
    add({ site, accountId }, reached, now) {
      if (reached) {
        unreached.clear()
        reachedAt = now
        return
      }
      const sites = unreached.get(accountId) ?? new Map<string, number | undefined>()
      if (sites.has(site) || sites.size >= maxSites) return
      if (sites.size === 0 && unreached.size >= maxAccounts) return
      unreached.set(accountId, sites.set(site, undefined))
    },
    take(now) {
      const taken: UnreachedSite[] = []
      for (const [accountId, sites] of unreached) {
        for (const [site, toldAt] of sites) {
          if (toldAt === undefined) {
            taken.push({ site, accountId })
            sites.set(site, now)
          } else if (!isRecent(toldAt, now, windowMs)) sites.delete(site)
        }
        if (sites.size === 0) unreached.delete(accountId)
      }
      return taken
    },
    get reachedAt() {
      return reachedAt
    },
  }
}
