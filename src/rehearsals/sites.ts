import { someAtOnce } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Policy, ShapingData, SiteName } from '../outbound/index.js'
import { behaviourOf, isSimulated, simulatorDomain } from '../simulator/index.js'
import type { DomainShares } from './audience-domains.js'

/** A site of the audience, with the recipients' domains there. */
export interface AudienceSite {
  name: SiteName
  policy: Policy
  /** Which part of all recipients each domain has. */
  shares: Map<string, number>
  /** A provider of the simulator puts all mail off for so long. */
  putsOffMs?: number | undefined
}

// Only the largest domains are looked up; each of the others has few recipients.
const mostDomains = 80
const atOnce = 20
// How long answers are waited for: a domain without an answer counts as a site of its own.
const lookUpMs = 900

/** The name for all domains that are not looked up. */
export const otherDomains = 'other domains'

interface SitesDeps {
  clock: Clock
  resolver: Resolver
  outbound: Config['outbound']
  data: ShapingData
}

/** The sites of an audience: the simulator's are here whatever the route is. */
export async function sitesOfDomains(
  deps: SitesDeps,
  { told, rough }: DomainShares,
): Promise<AudienceSite[]> {
  const { policyFor, policyInside, simulatedSite } = await import('../outbound/index.js')
  const isInside = ([domain]: [string, number]) => isSimulated(domain)
  const isOutside = (share: [string, number]) => !isInside(share)
  const simulated = [...told, ...rough].filter(isInside).map(([domain, share]): AudienceSite => {
    const name = simulatedSite(domain)
    const behaviour = domain === simulatorDomain ? undefined : behaviourOf(`anybody@${domain}`)
    return {
      name,
      policy: domain === simulatorDomain ? policyInside : policyFor(deps.data, name),
      shares: new Map([[domain, share]]),
      putsOffMs: behaviour?.kind === 'refuse' ? behaviour.forMs : undefined,
    }
  })
  const others = {
    told: new Map([...told].filter(isOutside)),
    rough: new Map([...rough].filter(isOutside)),
  }
  return [...simulated, ...(await sitesOutside(deps, others))]
}

async function sitesOutside(
  { clock, resolver, outbound, data }: SitesDeps,
  { told, rough }: DomainShares,
): Promise<AudienceSite[]> {
  const { policyFor, policyInside, routeOfDomain, sandboxSite, siteOf } = await import(
    '../outbound/index.js'
  )
  const sorted = [...told].sort(([, a], [, b]) => b - a)
  const large = sorted.slice(0, mostDomains)
  const rest = [...sorted.slice(mostDomains), ...rough]
  if (outbound.route === 'sandbox') {
    const inbox = { name: sandboxSite, policy: policyInside }
    const others = { name: { ...sandboxSite, key: otherDomains }, policy: policyInside }
    return [
      ...(large.length === 0 ? [] : [{ shares: new Map(large), ...inbox }]),
      ...(rest.length === 0 ? [] : [{ shares: new Map(rest), ...others }]),
    ]
  }
  const names = new Map<string, SiteName>()
  const late = new AbortController()
  const lookUps = someAtOnce(large, { atOnce, signal: late.signal }, async ([domain]) => {
    const route = await routeOfDomain(resolver, domain, outbound)
    if (route.kind === 'hosts') names.set(domain, siteOf(data, route.mx, domain))
  })
  await new Promise<void>((resolve) => {
    const cancel = clock.after(lookUpMs, resolve)
    void lookUps.finally(() => {
      cancel()
      resolve()
    })
  })
  late.abort()
  const sites = new Map<string, AudienceSite>()
  for (const [domain, share] of large) {
    const own = { key: domain, provider: undefined, mx: undefined, domain: undefined }
    const name = names.get(domain) ?? own
    const site = sites.get(name.key) ?? { name, policy: policyFor(data, name), shares: new Map() }
    site.shares.set(domain, share)
    sites.set(name.key, site)
  }
  if (rest.length > 0) sites.set(otherDomains, othersOf(rest, { policyFor, data, outbound }))
  return [...sites.values()]
}

/** All small domains as one site, with as many times the connections and the rate of one. */
function othersOf(
  rest: readonly (readonly [string, number])[],
  {
    policyFor,
    data,
    outbound,
  }: {
    policyFor: (data: ShapingData, name: SiteName) => Policy
    data: ShapingData
    outbound: Config['outbound']
  },
): AudienceSite {
  const name = { key: otherDomains, provider: undefined, mx: undefined, domain: undefined }
  const one = policyFor(data, name)
  const connections = Math.min(outbound.maxConnections, one.initialConnections * rest.length)
  const policy = {
    ...one,
    connections,
    initialConnections: connections,
    messagesPerMinute: one.messagesPerMinute * rest.length,
  }
  return { name, policy, shares: new Map(rest) }
}
