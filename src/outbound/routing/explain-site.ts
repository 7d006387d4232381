import { counted } from '../../amounts/index.js'
import { dayMs, hourMs, utcTime } from '../../clock/index.js'
import {
  allSourceAddresses,
  type Config,
  ownSourceAddresses,
  usualSourceOf,
} from '../../config/index.js'
import { type MxRoute, type Resolver, routeToMx } from '../../dns/index.js'
import type { Read } from '../../store/index.js'
import {
  isWarmedUp,
  listSources,
  type Policy,
  policyFor,
  rampInWords,
  rampLimit,
  readLearned,
  type ShapingData,
  type SiteName,
  type StoredLearned,
  siteOf,
  today,
} from '../shaping/index.js'
import { sourceNames } from './pools.js'

/** What applies to mail for a domain: `posthorn shaping show` and the operator's pages. */
export interface ExplainedSite {
  site: SiteName
  policy: Policy
  learned: StoredLearned[]
  sources: WarmingSource[]
}

/** A source address and how far its warm-up is. */
export interface WarmingSource {
  address: string
  firstDay: number
  rampDay: number
  /** Mails a day; null: the ramp is over. */
  limit: number | null
  sent: number
}

/** The section of the settings. */
type OutboundSettings = Config['outbound']

/** Where mail to a domain would go now, by the DNS. */
export function routeOfDomain(
  resolver: Resolver,
  domain: string,
  outbound: OutboundSettings,
): Promise<MxRoute> {
  return routeToMx(resolver, domain, {
    random: Math.random,
    allowPrivate: outbound.allowPrivateAddresses,
    ownAddresses: ownSourceAddresses(outbound),
    ipFamily: outbound.ipFamily,
  })
}

/** What is needed to explain a site. */
interface ExplainDeps {
  read: Read
  now: number
  data: ShapingData
  outbound: OutboundSettings
}

/** Undefined where the domain has no mail servers that could be a site. */
export async function explainSite(
  { read, now, data, outbound }: ExplainDeps,
  domain: string,
  route: MxRoute,
): Promise<ExplainedSite | undefined> {
  if (route.kind !== 'hosts') return undefined
  const site = siteOf(data, route.mx, domain)
  return {
    site,
    policy: policyFor(data, site),
    learned: await readLearned(read, site.key),
    sources: await warmingSources(read, now, outbound),
  }
}

/** The source addresses in use and their warm-up; none where it is off. */
export async function warmingSources(
  read: Read,
  now: number,
  outbound: OutboundSettings,
): Promise<WarmingSource[]> {
  const names = allSourceAddresses(outbound)
  const known = outbound.warmUp === 'off' ? [] : await listSources(read)
  return (
    known
      // The default sources of all nodes that have no address of their own.
      .filter(({ address }) => /^default(?:@|$)/.test(address) || names.includes(address))
      .map(({ address, ...state }) => {
        const { rampDay, firstDay, sent } = today(state, now)
        const limit = rampLimit(rampDay)
        return { address, firstDay, rampDay, limit: Number.isFinite(limit) ? limit : null, sent }
      })
  )
}

/**
 * The sources that are in their warm-up today, also those that have sent nothing yet; none where the warm-up is off.
 */
export async function sourcesInWarmUp(
  read: Read,
  now: number,
  { outbound, ...own }: Pick<Config, 'outbound' | 'node' | 'store'>,
): Promise<(WarmingSource & { limit: number })[]> {
  if (!isWarmedUp(outbound)) return []
  const known = new Map((await listSources(read)).map((source) => [source.address, source]))
  return sourceNames(outbound, usualSourceOf(own)).flatMap((address) => {
    const { rampDay, firstDay, sent } = today(known.get(address), now)
    const limit = rampLimit(rampDay)
    return Number.isFinite(limit) ? [{ address, firstDay, rampDay, limit, sent }] : []
  })
}

/** How far a source's warm-up is today, in words, by these settings. */
export function warmUpInWords(
  { rampDay, limit, sent }: WarmingSource & { limit: number },
  { warmUpReserve }: Pick<OutboundSettings, 'warmUpReserve'>,
): string {
  const used = sent === 0 ? '' : `, ${sent} used`
  const more = `and ${counted(warmUpReserve, 'transactional mail')} more (outbound.warm_up_reserve)`
  return `${rampInWords(rampDay)}: ${limit} mails today${used} (outbound.warm_up), ${more}`
}

/** Why a domain has no site. */
export const noRoute: Record<MxRoute['kind'], string> = {
  hosts: '',
  'null-mx': 'it takes no mail (null MX)',
  nxdomain: 'it does not exist',
  'no-addresses': 'none of its mail servers has an address',
  failed: 'the DNS failed',
  refused: 'its mail servers must not be connected to',
}

/** Limits that may be lowered. */
interface Slowed {
  connections?: number | null | undefined
  messagesPerMinute?: number | null | undefined
}

/** The text that is looked for in replies, for a table: the first of several. */
export function shownPattern({ patterns }: Policy['automations'][number]): string {
  const [first = [], ...others] = patterns
  return `${first.join(' * ')}${others.length === 0 ? '' : ` (or ${others.length} more)`}`
}

/** What something is slowed down to: `10 a minute, 2 at once`. */
export const shownSlow = ({ connections, messagesPerMinute }: Slowed) =>
  [
    typeof messagesPerMinute === 'number' ? [`${messagesPerMinute} a minute`] : [],
    typeof connections === 'number' ? [`${connections} at once`] : [],
  ]
    .flat()
    .join(', ')

/** What the receivers' answers have changed at a site, and until when; empty where nothing has. */
export function inForce({ suspension, active }: StoredLearned['learned']): string {
  const suspended =
    suspension === null ? [] : [`suspended until ${utcTime(suspension.until)}: ${suspension.why}`]
  const others = active.map(({ action, name, until, ...limits }) => {
    const lowered = shownSlow(limits)
    return `${action}${lowered && ` to ${lowered}`} until ${utcTime(until)} (${name})`
  })
  return [...suspended, ...others].join('; ')
}

/** `2h`, `90s`. */
export function shownSpan(ms: number): string {
  for (const [unit, unitMs] of [
    ['d', dayMs],
    ['h', hourMs],
    ['m', 60_000],
  ] as const) {
    if (ms % unitMs === 0) return `${ms / unitMs}${unit}`
  }
  return `${ms / 1_000}s`
}
