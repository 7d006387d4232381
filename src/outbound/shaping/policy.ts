import type { ShapingAction, ShapingAutomation } from './automation.js'
import { lastOf, type ShapingData } from './data.js'
import { limitNames, type ShapingLimits } from './limits.js'
import type { SiteName } from './site-name.js'
import type { ShapingTable } from './table.js'

/** All that applies to a site, and where each value is written. */
export interface Policy extends ShapingLimits {
  /** How many connections a site begins with; small sites earn the others (`concurrency.ts`). */
  readonly initialConnections: number
  /**
   * The automations of all tables that apply, the most specific table first. `rank` is the number of the table: among
   * the automations that match a reply, only those of the highest rank act (`automationsFor`).
   */
  readonly automations: readonly RankedAutomation[]
  /** By limit: `/usr/lib/posthorn/config/shaping.toml [providers.google]`. */
  readonly from: Readonly<Record<keyof ShapingLimits, string>>
}

/** An automation, with how specific its table is. */
export type RankedAutomation = ShapingAutomation & {
  readonly rank: number
  readonly action: ShapingAction
}

// For sites that belong to no provider. Postfix begins with 5 (`initial_destination_concurrency`), but five
// connections at once may be too many for a receiver that gets ten mails a day (`mta.md` 12).
const smallStart = 2

/** Folds the tables that apply, the most specific one last: default, provider, MX, domain. */
export function policyFor(data: ShapingData, site: SiteName): Policy {
  const provider = data.providers.get(site.provider ?? '')
  const chain: (readonly ShapingTable[])[] = [
    data.byDefault,
    data.providers.get(lastOf(provider, 'like') ?? '') ?? [],
    provider ?? [],
    data.mx.get(site.mx ?? '') ?? [],
    data.domains.get(site.domain ?? '') ?? [],
  ]
  const tables = chain.flat()
  const limits: Record<string, unknown> = {}
  const from: Record<string, string> = {}
  for (const name of limitNames) {
    const table = tables.findLast((candidate) => candidate.limits[name] !== undefined)
    if (table === undefined) throw new Error(`No ${name} in [default]`)
    limits[name] = table.limits[name]
    from[name] = table.from
  }
  // `loadShaping` has made sure that [default] has them all.
  const found = limits as unknown as ShapingLimits
  return {
    ...found,
    initialConnections:
      provider === undefined ? Math.min(smallStart, found.connections) : found.connections,
    automations: chain
      .map(automationsOf)
      .flatMap((own, rank) => own.map((a) => ({ ...a, rank })))
      .sort((a, b) => b.rank - a.rank),
    from: from as Policy['from'],
  }
}

/** The operator's automation takes the place of the one with the same name in the same table. */
function automationsOf(tables: readonly ShapingTable[]): ShapingAutomation[] {
  const byName = new Map<string, ShapingAutomation>()
  for (const automation of tables.flatMap((table) => table.automations)) {
    byName.set(automation.name, automation)
  }
  return [...byName.values()]
}

/**
 * One thread's part of a policy that several share without talking: recipient domains are spread over threads, sites
 * are not. Every thread keeps one connection at least, so with fewer connections than threads each thread has one.
 */
export function shareOf(policy: Policy, { thread, threads }: ThreadShare): Policy {
  if (threads <= 1) return policy
  const part = (whole: number) => partOf(whole, { thread, threads })
  return {
    ...policy,
    connections: part(policy.connections),
    initialConnections: part(policy.initialConnections),
    messagesPerMinute: policy.messagesPerMinute / threads,
    automations: policy.automations.map((automation) => ({
      ...automation,
      connections: automation.connections === undefined ? undefined : part(automation.connections),
      messagesPerMinute:
        automation.messagesPerMinute === undefined
          ? undefined
          : automation.messagesPerMinute / threads,
    })),
  }
}

/** Which thread of how many. */
export interface ThreadShare {
  /** From 0. */
  thread: number
  threads: number
}

// Equal parts; if the number does not divide evenly, the first threads have one more.
const partOf = (whole: number, { thread, threads }: ThreadShare) =>
  Math.max(1, Math.floor(whole / threads) + (thread < whole % threads ? 1 : 0))
