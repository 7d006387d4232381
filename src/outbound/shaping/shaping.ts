import type { Clock } from '../../clock/index.js'
import type { MxHost } from '../../dns/index.js'
import type { ShapingData } from './data.js'
import type { LearnedRow } from './learned.js'
import { allFrom, withoutBrake } from './limits.js'
import { type Policy, policyFor, shareOf, type ThreadShare } from './policy.js'
import type { SiteAction } from './reactions.js'
import { keyOf, makeRemembered, type RememberedRow } from './remembered.js'
import { type Learned, makeSite, type Site } from './site.js'
import { type SiteName, siteOf } from './site-name.js'
import type { SiteBrake, SiteTally } from './tally.js'
import type { WarmUp } from './warm-up.js'

/** One thread's sites. */
export interface Shaping {
  siteOf(
    hosts: readonly Pick<MxHost, 'exchange' | 'preference'>[],
    recipientDomain: string,
  ): SiteName
  /** The site as seen from a source address; the same object until it is forgotten. */
  site(name: SiteName, source: string): Site
  /** New files: policies change at once; attempts under way and what was learned stay. */
  reload(data: ShapingData): void
  /** Ends the waiting of suspended sites (by `key`; all without one): one message tries each. */
  tryNow(key?: string): void
  /**
   * Forgets sites that have nothing under way and are like a new site; after ten minutes without mail also those that
   * have only earned connections.
   */
  sweep(): void
  /** What has changed since the last call, for `saveLearned`. */
  learnedChanges(): { changed: LearnedRow[]; gone: Omit<LearnedRow, 'learned'>[] }
  /** How attempts have ended since the last call, for sites where any has. */
  takeTallies(): { name: SiteName; source: string; policy: Policy; tally: SiteTally }[]
  /** What applies to a site, by the files. */
  policyOf(name: SiteName): Policy
  /** Other sites go slower than before: `brakeOf` is asked anew for each site in use. */
  slowDown(): void
  /** How many connections these sites (by `key`) may have now, over the source addresses in use. */
  limitsOf(keys: ReadonlySet<string>): Map<string, number>
  readonly size: number
}

/** What shaping needs of the thread. */
export interface ShapingOptions extends ThreadShare {
  data: ShapingData
  /** Keys of our own sites that need no shaping. */
  unshaped?: readonly string[]
  /** Whether mail to a site (by `key`) stays in the appliance: it warms no address up. */
  isInside?: (site: string) => boolean
  clock: Clock
  random: () => number
  warmUpOf?: (source: string) => WarmUp
  onAction?: (site: SiteName, source: string, action: SiteAction, accountId: string) => void
  /** What campaign mail to a site, from a source, has to keep to. */
  brakeOf?: (site: string, source: string) => SiteBrake | undefined
  /** What was known before a restart (`readLearned`). */
  learned?: readonly RememberedRow[]
}

// How many rows a thread keeps. They are there for suspensions and slow-downs, which may have twice as many; the
// connections that a hundred thousand sites have earned are not all kept, but learned again after a restart.
const maxLearned = 500

const ours = 'inside the appliance'
/** For sites that are our own listeners on this machine: they get as much as they take. */
export const policyInside: Policy = {
  connections: 20,
  initialConnections: 20,
  messagesPerConnection: 10_000,
  messagesPerMinute: 1_000_000,
  tls: 'opportunistic',
  ...withoutBrake,
  automations: [],
  from: allFrom(ours),
}

/** A site in use. */
interface Entry {
  name: SiteName
  source: string
  site: Site
  /** What `learnedChanges` last returned for it. */
  told: string | undefined
}

/**
 * The shaping of this thread. A site gets an entry with its first mail, with what was learned about
 * it before a restart.
 */
export function makeShaping(options: ShapingOptions): Shaping {
  const { clock, random, warmUpOf, onAction, brakeOf } = options
  let data = options.data
  let policies = makePolicies(data, options)
  const entries = new Map<string, Entry>()
  let tallied: Entry[] = []
  const before = makeRemembered(options.learned ?? [], options, clock.now())
  let told = 0
  /** Sites that were forgotten since the last call of `learnedChanges`. */
  let gone: Omit<LearnedRow, 'learned'>[] = []

  const open = (name: SiteName, source: string, key: string): Entry => {
    const known = before.take(key, clock.now())
    const isOurs = options.unshaped?.includes(name.key) === true
    const site = makeSite(isOurs ? policyInside : policies.of(name), {
      clock,
      random,
      warmUp: options.isInside?.(name.key) ? undefined : warmUpOf?.(source),
      onAction: onAction && ((action, accountId) => onAction(name, source, action, accountId)),
      learned: known?.learned,
      brake: isOurs ? undefined : brakeOf?.(name.key, source),
      onTally: isOurs ? undefined : () => tallied.push(entry),
    })
    const entry: Entry = { name, source, site, told: known?.told }
    return entry
  }

  /** The row to keep for a site; undefined where there are too many. A site that has a row keeps it. */
  const rowOf = (entry: Entry, learned: Learned) => {
    const most =
      learned.suspension !== null || learned.active.length > 0 ? 2 * maxLearned : maxLearned
    return entry.told === undefined && told >= most ? undefined : JSON.stringify(learned)
  }

  return {
    siteOf: (hosts, recipientDomain) => siteOf(data, hosts, recipientDomain),
    site(name, source) {
      const key = keyOf(name.key, source)
      let entry = entries.get(key)
      if (entry === undefined) {
        entry = open(name, source, key)
        entries.set(key, entry)
      }
      return entry.site
    },
    reload(newData) {
      data = newData
      policies = makePolicies(data, options)
      for (const { name, site } of entries.values()) {
        if (site.policy !== policyInside) site.adopt(policies.of(name))
      }
    },
    tryNow(key) {
      before.tryNow(key, clock.now())
      for (const { name, site } of entries.values()) {
        if (key === undefined || name.key === key) site.tryNow()
      }
    },
    sweep() {
      for (const [key, { name, source, site, told: row }] of entries) {
        if (!site.isForgettable()) continue
        entries.delete(key)
        if (row === undefined) continue
        told--
        gone.push({ site: name.key, source })
      }
    },
    learnedChanges() {
      const { changed, gone: over } = before.changes(clock.now())
      told += changed.length - over.length
      for (const entry of entries.values()) {
        const { name, source, site } = entry
        const learned = site.learned()
        const row = isUsual(site, learned) ? undefined : rowOf(entry, learned)
        if (row === entry.told) continue
        if (row === undefined) gone.push({ site: name.key, source })
        told += row === undefined ? -1 : entry.told === undefined ? 1 : 0
        entry.told = row
        if (row !== undefined) changed.push({ site: name.key, source, learned })
      }
      const forgotten = [...gone, ...over]
      gone = []
      return { changed, gone: forgotten }
    },
    takeTallies() {
      const taken = tallied
      tallied = []
      return taken.flatMap(({ name, source, site }) => {
        const tally = site.takeTally()
        return tally === undefined ? [] : [{ name, source, policy: site.policy, tally }]
      })
    },
    policyOf: (name) => policies.of(name),
    slowDown() {
      for (const { name, source, site } of entries.values()) {
        if (site.policy !== policyInside) site.slowDown(brakeOf?.(name.key, source))
      }
    },
    limitsOf(keys) {
      const limits = new Map<string, number>()
      for (const { name, site } of entries.values()) {
        if (!keys.has(name.key)) continue
        limits.set(name.key, (limits.get(name.key) ?? 0) + site.connections)
      }
      return limits
    },
    get size() {
      return entries.size
    },
  }
}

/** Policies by the tables that apply. Nearly all small sites have no table of their own, so they share one object. */
function makePolicies(data: ShapingData, share: ThreadShare) {
  const policies = new Map<string, Policy>()
  return {
    of(name: SiteName): Policy {
      const tables = [name.provider, name.mx, name.domain].join(' ')
      let policy = policies.get(tables)
      if (policy === undefined) {
        policy = shareOf(policyFor(data, name), share)
        policies.set(tables, policy)
      }
      return policy
    },
  }
}

/** Whether a row would only say what a new site does anyway. */
const isUsual = ({ policy }: Site, { connections, suspension, active }: Learned) =>
  connections === policy.initialConnections && suspension === null && active.length === 0
