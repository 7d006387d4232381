import type { Clock } from '../../clock/index.js'
import { type Cut, makeCut } from '../../smtp/index.js'

/** Who holds what: all together, an account, a site, a server's address. */
export interface Holder {
  readonly kind: 'all' | 'account' | 'site' | 'server'
  readonly name: string
  /** What its shares are called: of connections at all, and of slow ones. */
  readonly shares: { readonly held: string; readonly slow: string }
  readonly limits: { readonly held: number; readonly slow: number }
  held: number
  slow: number
  /** How long attempts there take, as an exponential average. */
  averageMs: number
  usedAt: number
}

/** A connection in use by an attempt, or about to be. */
export interface HeldConnection {
  readonly account: Holder
  readonly site: Holder
  server: Holder | undefined
  /** Breaks the attempt off. */
  readonly cut: Cut
  since: number
  isSlow: boolean
}

/** Whose shares an attempt takes room in. */
export interface HolderNames {
  accountId: string
  site: string
  server: string | undefined
}

/** Counts the connections of every holder, and learns how long attempts take. */
export interface ShareLedger {
  readonly all: Holder
  readonly accounts: Holders
  readonly sites: Holders
  readonly servers: Holders
  /** In the order in which they began. */
  readonly holds: ReadonlySet<HeldConnection>
  /** Counts attempts as slow that have become so since. */
  age(now: number): void
  /** `isUnknown`: the site has not answered yet, so the attempt counts as slow. */
  begin(names: HolderNames, state: { now: number; isUnknown: boolean }): HeldConnection
  /** The attempt is at another server than was expected. */
  move(hold: HeldConnection, server: string): void
  /** `tried`: it came as far as the site. */
  end(hold: HeldConnection, tried: boolean, now: number): void
  /** When the next attempt becomes slow. */
  agesAt(): number
}

// What usually takes less is no attack and no illness; greeting delays and content filters take more.
const slowAfterMs = 10_000
// How much an attempt that becomes slow counts in the average, and each attempt's weight in it: two out of
// eight make a site slow, a few prompt ones make it prompt again.
const slowCountsMs = 60_000
const weight = 1 / 8
// A site or server whose attempts take longer than this is remembered after its last attempt.
const worthKnowingMs = 1_000
const rememberedMs = 600_000
// A share is never smaller than this: with so few connections, bounds would only be in the way.
const few = 10

// Three of four, rounded up: three quarters of one are one.
const quarters = (whole: number) => Math.ceil((whole * 3) / 4)
/** A half, rounded up. */
export const half = (whole: number) => Math.ceil(whole / 2)

/** True when attempts there usually take long. */
export const isKnownSlow = (holder: Holder | undefined) => (holder?.averageMs ?? 0) > slowAfterMs

/** Whose shares a connection is in. */
export const holdersOf = ({ account, site, server }: HeldConnection, all: Holder): Holder[] =>
  server === undefined ? [all, account, site] : [all, account, site, server]

/**
 * Keeps the counts that `connection-shares.ts` decides by. Shares are fractions of all connections:
 * a half for a site or a server, three quarters for an account, and of slow ones the same fractions
 * of three quarters; but never less than a few, or a small appliance could send to nobody.
 */
export function makeShareLedger(total: number, clock: Pick<Clock, 'now'>): ShareLedger {
  const slow = quarters(total)
  const atLeastFew = (share: number) => Math.min(total, Math.max(few, share))
  const ofOne = { held: atLeastFew(half(total)), slow: half(slow) }
  const all = makeHolder('all', 'all', { held: total, slow })
  const accounts = makeHolders('account', {
    held: atLeastFew(quarters(total)),
    slow: quarters(slow),
  })
  const sites = makeHolders('site', ofOne)
  const servers = makeHolders('server', ofOne)
  const holds = new Set<HeldConnection>()
  const young = new Set<HeldConnection>()
  let seenAt = clock.now()
  let sweptAt = seenAt

  const count = (hold: HeldConnection, by: 1 | -1, holders = holdersOf(hold, all)) => {
    for (const holder of holders) {
      holder.held += by
      if (hold.isSlow) holder.slow += by
    }
  }
  const learn = ({ site, server }: HeldConnection, tookMs: number) => {
    for (const holder of server === undefined ? [site] : [site, server]) {
      holder.averageMs += (tookMs - holder.averageMs) * weight
    }
  }
  /** When the clock is set back, the times that it gave are set back too. */
  const setBack = (ms: number) => {
    for (const hold of holds) hold.since -= ms
    sweptAt -= ms
  }

  return {
    all,
    accounts,
    sites,
    servers,
    holds,
    age(now) {
      if (now < seenAt) setBack(seenAt - now)
      seenAt = now
      for (const hold of young) {
        if (now - hold.since < slowAfterMs) break
        young.delete(hold)
        learn(hold, slowCountsMs)
        if (hold.isSlow) continue
        hold.isSlow = true
        for (const holder of holdersOf(hold, all)) holder.slow++
      }
      if (now - sweptAt < rememberedMs) return
      sweptAt = now
      for (const holders of [sites, servers]) holders.sweep(now - rememberedMs)
    },
    begin({ accountId, site, server }, { now, isUnknown }) {
      const hold: HeldConnection = {
        account: accounts.get(accountId),
        site: sites.get(site),
        server: server === undefined ? undefined : servers.get(server),
        cut: makeCut(),
        since: now,
        isSlow: false,
      }
      hold.isSlow = isUnknown || isKnownSlow(hold.site) || isKnownSlow(hold.server)
      count(hold, 1)
      holds.add(hold)
      young.add(hold)
      return hold
    },
    move(hold, server) {
      if (hold.server !== undefined) {
        count(hold, -1, [hold.server])
        servers.drop(hold.server)
      }
      hold.server = servers.get(server)
      count(hold, 1, [hold.server])
    },
    end(hold, tried, now) {
      holds.delete(hold)
      count(hold, -1)
      if (young.delete(hold) && tried) learn(hold, Math.max(0, now - hold.since))
      for (const holder of holdersOf(hold, all)) holder.usedAt = now
      accounts.drop(hold.account)
      sites.drop(hold.site)
      if (hold.server !== undefined) servers.drop(hold.server)
    },
    agesAt() {
      const [next] = young
      return next === undefined ? Number.POSITIVE_INFINITY : next.since + slowAfterMs
    },
  }
}

/** `averageMs` is how long its connections are held, which says whether it is known to be slow. */
const makeHolder = (kind: Holder['kind'], name: string, limits: Holder['limits']): Holder => ({
  kind,
  name,
  limits,
  shares: { held: `${kind} ${name}`, slow: `${kind} ${name} slow` },
  held: 0,
  slow: 0,
  averageMs: 0,
  usedAt: 0,
})

/** All holders of one kind, by their names. */
export type Holders = ReturnType<typeof makeHolders>

/** The holders that hold something, and those whose usual time is worth knowing. */
function makeHolders(kind: Holder['kind'], limits: Holder['limits']) {
  const holders = new Map<string, Holder>()
  return {
    limits,
    find: (name: string) => holders.get(name),
    get(name: string): Holder {
      const found = holders.get(name) ?? makeHolder(kind, name, limits)
      holders.set(name, found)
      return found
    },
    drop(holder: Holder) {
      if (holder.held === 0 && holder.averageMs < worthKnowingMs) holders.delete(holder.name)
    },
    sweep(before: number) {
      for (const holder of holders.values()) {
        if (holder.held === 0 && holder.usedAt < before) holders.delete(holder.name)
      }
    },
    values: () => holders.values(),
  }
}
