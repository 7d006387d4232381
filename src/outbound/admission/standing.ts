import type { Held } from '../shaping/index.js'
import { classes, type Path } from './waiting.js'

/** A site as one thread works it now: for the operator who looks, never for a decision. */
export interface SiteStanding {
  site: string
  /** Sockets, idle ones too. */
  connections: number
  /** How many there may be now, over its source addresses that are in use; null where none was. */
  limit: number | null
  /** How many lanes of accounts have mail due there. */
  streams: number
  /** Why nothing more starts now; null while it may. */
  gate: Held['gate'] | null
  why: string
  until: number | null
}

/** What one thread does now, for `posthorn top` and the operator's pages. */
export interface OutboundStanding {
  sites: SiteStanding[]
  /** Streams that have mail due, by account. */
  accounts: { accountId: string; streams: number }[]
}

/** What the standing is made of. */
interface Sources {
  paths: Iterable<Path>
  connections: ReadonlyMap<string, number>
  /** How many connections each of these sites may have, by the sites' keys. */
  limitsOf(sites: ReadonlySet<string>): ReadonlyMap<string, number>
}

// How many sites and accounts are listed: a screen of them.
const mostTold = 40

/** The sites with most connections and mail due, and the accounts that own this mail, in one walk over all paths. */
export function standingSites({ paths, connections, limitsOf }: Sources): OutboundStanding {
  const bySite = new Map<string, SiteStanding>()
  const byAccount = new Map<string, number>()
  const siteOf = (site: string): SiteStanding => {
    const known = bySite.get(site)
    if (known !== undefined) return known
    const inUse = connections.get(site) ?? 0
    const fresh = {
      site,
      connections: inUse,
      limit: null,
      streams: 0,
      gate: null,
      why: '',
      until: null,
    }
    bySite.set(site, fresh)
    return fresh
  }
  for (const site of connections.keys()) siteOf(site)
  for (const path of paths) {
    const standing = siteOf(path.site)
    for (const of of classes) {
      for (const [accountId, streams] of path.due[of]) {
        standing.streams += streams.size
        byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + streams.size)
      }
      const held = path.due[of].size > 0 ? path.held[of] : undefined
      if (held === undefined || standing.gate === 'suspended') continue
      Object.assign(standing, { gate: held.gate, why: held.why, until: held.until })
    }
  }
  const told = [...bySite.values()].sort(busiestFirst).slice(0, mostTold)
  const limits = limitsOf(new Set(told.map(({ site }) => site)))
  return {
    sites: told.map((one) => ({ ...one, limit: limits.get(one.site) ?? null })),
    accounts: [...byAccount]
      .map(([accountId, streams]) => ({ accountId, streams }))
      .sort((a, b) => b.streams - a.streams)
      .slice(0, mostTold),
  }
}

/** A site that is suspended comes before all others: an operator looks for it first. */
function busiestFirst(a: SiteStanding, b: SiteStanding): number {
  const rank = ({ gate }: SiteStanding) => (gate === 'suspended' ? 0 : 1)
  return rank(a) - rank(b) || b.connections - a.connections || b.streams - a.streams
}
