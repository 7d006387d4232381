import ipaddr from 'ipaddr.js'
import type { Clock } from '../clock/index.js'
import type { QueueClass } from '../store/index.js'
import type { Lane } from './lanes.js'
import type { Place } from './places.js'
import { keptFrom, reserveOf } from './shaping/index.js'

/**
 * How a thread's connections are divided by how long those who hold them keep them.
 *
 *   an attempt ──younger than 10 s, its site and its server are usually done by then──▶ prompt
 *       └──────every other: never answered, known to be slow, or 10 s old──▶ slow
 *
 * A receiver may take minutes for each reply (RFC 5321 §4.5.3.2 grants them), and a sender who owns
 * receivers could hold every connection like that. So there are shares, of all, of an account, of a
 * site and of a server's address: of connections at all, and fewer of slow ones. The last quarter is
 * for prompt ones alone. Where a share of slow ones is nearly full and mail waits, those in it get a
 * minute instead of the RFC's; where there is room nobody is hurried.
 */
export interface Shares {
  /** The share in which there is no room for it; undefined when it may start. */
  refuses(asker: Asker): Refusal | undefined
  /** It has started: the place as the attempt is to have it. */
  started(place: Place, asker: Asker): Place
  /** It has ended; `tried`: it came as far as the site. Which shares have more room now. */
  ended(place: Place, tried: boolean): readonly string[]
  /** Ends attempts that others have waited for long enough; to be called while mail waits. */
  cut(): void
  /** When `cut` may have something to do next; infinite for not known. */
  cutAt(): number
}

/** An attempt that is to start. */
export interface Asker {
  of: QueueClass
  accountId: string
  site: string
  /** Its `server` is where it will connect to in all likelihood. */
  lane: Pick<Lane, 'server'>
  /** The site's last attempt had an answer. */
  answers: boolean
}

export interface Refusal {
  /** `ended` names it when there is room. */
  share: string
  isOfServer: boolean
  why: string
}

/** What one of them holds: all together, an account, a site, a server. */
interface Holder {
  readonly kind: 'all' | 'account' | 'site' | 'server'
  readonly name: string
  readonly limits: { readonly held: number; readonly slow: number }
  held: number
  slow: number
  /** How long attempts there take, as an exponential average. */
  averageMs: number
  usedAt: number
}

interface Hold {
  readonly account: Holder
  readonly site: Holder
  server: Holder | undefined
  readonly stop: AbortController
  since: number
  isSlow: boolean
}

// What usually takes less is no attack and no illness; greeting delays and content filters take more.
const slowAfterMs = 10_000
// The least that a slow attempt gets. Postfix and KumoMTA wait as long for a greeting; nearly all answers
// to a message come sooner.
const patienceMs = 60_000
// Where more is slow than may be, as all hung at the same moment.
const leastPatienceMs = 30_000
// How much an attempt that becomes slow counts in the average, and each attempt's weight in it: two out of
// eight make a site slow, a few prompt ones make it prompt again.
const slowCountsMs = 60_000
const weight = 1 / 8
const cutEveryMs = 1_000
// A site or server that took longer is remembered for so long after its last attempt.
const worthKnowingMs = 1_000
const rememberedMs = 600_000

const quarters = (whole: number) => Math.ceil((whole * 3) / 4)
const half = (whole: number) => Math.ceil(whole / 2)
// Bounds for one of a few connections would only be in the way.
const few = 10

export function makeShares(total: number, clock: Pick<Clock, 'now'>): Shares {
  const slow = quarters(total)
  const atLeastFew = (share: number) => Math.min(total, Math.max(few, share))
  const ofOne = { held: atLeastFew(half(total)), slow: half(slow) }
  const ofAccount = { held: atLeastFew(quarters(total)), slow: quarters(slow) }
  const all = makeHolder('all', 'all', { held: total, slow })
  const accounts = makeHolders('account', ofAccount)
  const sites = makeHolders('site', ofOne)
  const servers = makeHolders('server', ofOne)
  /** In the order in which they began. */
  const holds = new Map<Place, Hold>()
  const young = new Set<Hold>()
  /** Shares that have more room since the last attempt ended, as one goes to another server. */
  const roomier: string[] = []
  let seenAt = clock.now()
  let sweptAt = seenAt
  let cutAgainAt = seenAt

  const holdersOf = ({ account, site, server }: Hold) =>
    server === undefined ? [all, account, site] : [all, account, site, server]
  const count = (hold: Hold, by: 1 | -1, holders = holdersOf(hold)) => {
    for (const holder of holders) {
      holder.held += by
      if (hold.isSlow) holder.slow += by
    }
  }
  const learn = ({ site, server }: Hold, tookMs: number) => {
    for (const place of server === undefined ? [site] : [site, server]) {
      place.averageMs += (tookMs - place.averageMs) * weight
    }
  }
  /** A clock that is set back takes the times that it gave along. */
  const setBack = (ms: number) => {
    for (const hold of holds.values()) hold.since -= ms
    sweptAt -= ms
    cutAgainAt -= ms
  }
  /** Attempts that have become slow since. */
  const age = (now: number) => {
    if (now < seenAt) setBack(seenAt - now)
    seenAt = now
    for (const hold of young) {
      if (now - hold.since < slowAfterMs) break
      young.delete(hold)
      learn(hold, slowCountsMs)
      if (hold.isSlow) continue
      hold.isSlow = true
      for (const holder of holdersOf(hold)) holder.slow++
    }
    if (now - sweptAt < rememberedMs) return
    sweptAt = now
    for (const holders of [sites, servers]) holders.sweep(now - rememberedMs)
  }
  const isCrowded = ({ slow: taken, limits }: Holder) =>
    taken >= limits.slow - reserveOf(limits.slow)
  const patience = ({ slow: taken, limits }: Holder) =>
    taken > limits.slow ? leastPatienceMs : patienceMs

  /** Of those that it holds, the oldest of whoever has most, until half of the share is free. */
  const cutOf = (holder: Holder, candidates: readonly Hold[], now: number) => {
    const own = candidates.filter(
      (hold) => !hold.stop.signal.aborted && holdersOf(hold).includes(holder),
    )
    const waited = own.filter(({ since }) => now - since >= patience(holder))
    const most = own.length - half(holder.limits.slow)
    for (const { stop, since } of waited.slice(0, Math.max(0, most))) {
      const seconds = Math.round((now - since) / 1000)
      abort(stop, `given up after ${seconds} s, as other mail waits for a connection`)
    }
  }
  const crowded = (): Holder[] => {
    if (all.slow < ofOne.slow - reserveOf(ofOne.slow)) return []
    const each = [accounts, sites, servers].flatMap((holders) => [...holders.values()])
    return [all, ...each].filter(isCrowded)
  }

  return {
    refuses({ of, accountId, site: siteName, lane, answers }) {
      age(clock.now())
      const { server: serverName } = lane
      const site = sites.find(siteName)
      const server = serverName === undefined ? undefined : servers.find(serverName)
      const isSlow = !answers || isKnownSlow(site) || isKnownSlow(server)
      for (const holder of [accounts.find(accountId), server, site, all]) {
        if (holder === undefined) continue
        const { held, slow: most } = holder.limits
        if (holder.held >= held - keptFrom(of, held)) return refusal(holder, held, '')
        if (isSlow && holder.slow >= most - keptFrom(of, most)) {
          return refusal(holder, most, slowly)
        }
      }
      return undefined
    },

    started(place, { accountId, site: siteName, lane, answers }) {
      const now = clock.now()
      age(now)
      const stop = new AbortController()
      const hold: Hold = {
        account: accounts.get(accountId),
        site: sites.get(siteName),
        server: lane.server === undefined ? undefined : servers.get(lane.server),
        stop,
        since: now,
        isSlow: false,
      }
      hold.isSlow = !answers || isKnownSlow(hold.site) || isKnownSlow(hold.server)
      count(hold, 1)
      young.add(hold)
      const goesTo = (address: string) => {
        const to = serverOf(address)
        if (to === hold.server?.name) return
        if (hold.server !== undefined) {
          count(hold, -1, [hold.server])
          servers.drop(hold.server)
          roomier.push(...sharesOf(hold, [hold.server]))
        }
        hold.server = servers.get(to)
        count(hold, 1, [hold.server])
        lane.server = to
      }
      const hurried = !answers && all.slow > half(slow)
      const giveUp = (why: string) => abort(stop, why)
      const given = { signal: stop.signal, goesTo, giveUp }
      const taken = { ...place, ...(hurried && { hurried }), ...given }
      holds.set(taken, hold)
      return taken
    },

    ended(place, tried) {
      const hold = holds.get(place)
      if (hold === undefined) return []
      const now = clock.now()
      age(now)
      holds.delete(place)
      count(hold, -1)
      if (young.delete(hold) && tried) learn(hold, Math.max(0, now - hold.since))
      const { account, site, server } = hold
      for (const holder of holdersOf(hold)) holder.usedAt = now
      accounts.drop(account)
      sites.drop(site)
      if (server !== undefined) servers.drop(server)
      return [...roomier.splice(0), ...sharesOf(hold, holdersOf(hold))]
    },

    cut() {
      const now = clock.now()
      age(now)
      if (now < cutAgainAt) return
      const holders = crowded()
      if (holders.length === 0) return
      cutAgainAt = now + cutEveryMs
      const candidates = [...holds.values()].filter(({ isSlow }) => isSlow).sort(heaviestFirst)
      for (const holder of holders) cutOf(holder, candidates, now)
    },

    cutAt() {
      const [next] = young
      const ageAt = next === undefined ? never : next.since + slowAfterMs
      const holders = crowded()
      if (holders.length === 0) return ageAt
      const oldest = [...holds.values()].find(({ stop }) => !stop.signal.aborted)
      const ripeAt =
        oldest === undefined ? never : oldest.since + Math.min(...holders.map(patience))
      return Math.min(ageAt, Math.max(ripeAt, cutAgainAt))
    },
  }
}

/** One server, by whatever address: an IPv6 host has a whole /64 to itself (RFC 6177). */
export function serverOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.replace(/%.*$/, '')}/64`)}/64`
}

const abort = (stop: AbortController, why: string) =>
  stop.abort(new DOMException(why, 'TimeoutError'))

const never = Number.POSITIVE_INFINITY
const slowly = ' slow'
const isKnownSlow = (holder: Holder | undefined) => (holder?.averageMs ?? 0) > slowAfterMs

const heaviestFirst = (one: Hold, other: Hold) =>
  other.account.slow - one.account.slow ||
  (other.server?.slow ?? 0) - (one.server?.slow ?? 0) ||
  one.since - other.since

/** The shares that it takes room in. */
const sharesOf = ({ isSlow }: Hold, holders: readonly Holder[]): string[] => {
  const names = holders.map(nameOf)
  return isSlow ? [...names, ...names.map((name) => name + slowly)] : names
}

const nameOf = ({ kind, name }: Holder) => `${kind} ${name}`

function refusal(holder: Holder, most: number, which: '' | typeof slowly): Refusal {
  const whose = {
    all: 'all together',
    account: 'one account',
    site: 'one site',
    server: `the server ${holder.name}`,
  }
  const what = which === '' ? 'connections' : 'connections that are slow or not known yet'
  return {
    share: nameOf(holder) + which,
    isOfServer: holder.kind === 'server',
    why: `${whose[holder.kind]} may have ${most} ${what}`,
  }
}

const makeHolder = (kind: Holder['kind'], name: string, limits: Holder['limits']): Holder => ({
  ...{ kind, name, limits },
  ...{ held: 0, slow: 0, averageMs: 0, usedAt: 0 },
})

/** Those that hold something, and those of which it is worth knowing how long they take. */
function makeHolders(kind: Holder['kind'], limits: Holder['limits']) {
  const holders = new Map<string, Holder>()
  return {
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
