import { keepNewest } from '../../bounded/index.js'
import { isRecent } from '../../clock/index.js'
import { ownSourceAddresses } from '../../config/index.js'
import { testLane } from '../../deliveries/index.js'
import { type MxHost, routeToMx } from '../../dns/index.js'
import { isSimulated, simulatorDomain } from '../../simulator/index.js'
import type { OutboundDeps } from '../deps.js'
import { type Outcome, outcomeOfRoute, type TriedSoFar } from '../outcome.js'
import type { Shaping, SiteName } from '../shaping/index.js'

/** Where a recipient domain's mail goes now. */
export type MailRoute =
  | { hosts: readonly MxHost[]; site: SiteName; inside?: InsideServer }
  /** Nowhere: `outcome` says what that means for a delivery. */
  | { outcome: (tried: TriedSoFar) => Outcome; site: SiteName }

/** Servers of the appliance itself: on loopback, at their own port, with no policy to look up. */
export interface InsideServer {
  port: number
}

/** Finds where a domain's mail goes now, which may be nowhere. */
export type FindRoute = (domain: string) => Promise<MailRoute>

/** Routes of one thread. */
export interface Routes {
  findRoute: FindRoute
  /** After new shaping files: a domain's site may be another one. */
  forgetRoutes(): void
}

// These are not host names, so no table of shaping.toml fits them.
const siteNamed = (key: string): SiteName => ({
  key,
  provider: undefined,
  mx: undefined,
  domain: undefined,
})
/** The built-in inbox. */
export const sandboxSite = siteNamed('sandbox')
/** The simulator of receivers. */
const simulatorSite = siteNamed('simulator')
// A provider of the simulator is a site of its own. Unlike the others it is shaped, as it is there to be shaped.
const providerOf = `${simulatorSite.key} `
/** The site of a domain of the simulator; `domain` is for a table of shaping.toml. */
export const simulatedSite = (domain: string): SiteName =>
  domain === simulatorDomain
    ? simulatorSite
    : { ...siteNamed(`${providerOf}${domain.slice(0, -simulatorDomain.length - 1)}`), domain }
/** The accounts' test inboxes, where all mail of test keys goes. */
const testInboxSite = siteNamed('test inbox')
/** Domains without servers: they do not exist, have a null MX, or no server that may be connected to. */
export const nowhere = siteNamed('nowhere')
/** Whether the site's servers are part of the appliance. */
export const isInside = (key: string) =>
  insideSites.some((site) => site.key === key) || key.startsWith(providerOf)
/** The sites of the appliance's own servers that nothing shapes; each is reached in one way only. */
export const insideSites: readonly SiteName[] = [sandboxSite, simulatorSite, testInboxSite]

// No host name has a blank, so that no table fits it.
const dnsOf = 'dns of '
/** Whether the site stands for a domain whose DNS fails. */
export const isDnsSite = (key: string) => key.startsWith(dnsOf)
/** Whether mail of the lane stays in the appliance in every mode. */
export const isInsideLane = (lane: string) => lane === testLane || isSimulated(lane)
/** A site's name as people see it. */
export const siteInWords = (key: string) => (isDnsSite(key) ? key.slice(dnsOf.length) : key)

type RouteDeps = Pick<
  OutboundDeps,
  'config' | 'simulator' | 'testInbox' | 'sandbox' | 'clock' | 'resolver' | 'random'
>

/**
 * `direct` asks the DNS; `sandbox` leads to the built-in inbox; the simulator and the test inbox are here in every
 * mode. A domain whose DNS fails is a site of its own until the DNS answers, and is suspended and probed like a site
 * whose servers fail.
 */
export function makeRoutes(deps: RouteDeps, shaping: Pick<Shaping, 'siteOf'>): Routes {
  const { config, simulator, testInbox } = deps
  const outside = config.route === 'sandbox' ? toSandbox(deps) : toMx(deps, shaping)
  return {
    ...outside,
    async findRoute(domain) {
      if (domain === testLane) {
        return insideRoute(testInboxSite, 'localhost', await testInbox.address())
      }
      if (!isSimulated(domain)) return await outside.findRoute(domain)
      const { host, port } = await simulator.address()
      return insideRoute(simulatedSite(domain), simulatorDomain, { host, port })
    },
  }
}

/** All mail to the built-in inbox. */
function toSandbox({ sandbox }: RouteDeps): Routes {
  if (sandbox === undefined) throw new Error('The sandbox route needs the sandbox inbox')
  const route = insideRoute(sandboxSite, 'localhost', sandbox)
  return { findRoute: async () => route, forgetRoutes() {} }
}

/** A route to a server of our own, on loopback. */
const insideRoute = (
  site: SiteName,
  exchange: string,
  at: { host: string; port: number },
): MailRoute => ({
  site,
  hosts: [{ exchange, preference: 0, addresses: [at.host] }],
  inside: { port: at.port },
})

/** Mail to the domain's own servers, by its MX records. */
function toMx(deps: RouteDeps, shaping: Pick<Shaping, 'siteOf'>): Routes {
  const { config } = deps
  const options = {
    random: deps.random,
    allowPrivate: config.allowPrivateAddresses,
    ownAddresses: ownSourceAddresses(config),
    ipFamily: config.ipFamily,
  }
  const known = new Map<string, { route: MailRoute; at: number; uses: number }>()
  const findRoute: FindRoute = async (domain) => {
    const now = deps.clock.now()
    const kept = known.get(domain)
    if (kept !== undefined && isRecent(kept.at, now, keptMs) && kept.uses-- > 0) return kept.route
    const found = await routeToMx(deps.resolver, domain, options)
    if (found.kind === 'hosts') {
      const route = { hosts: found.hosts, site: shaping.siteOf(found.mx, domain) }
      const [host, ...others] = found.hosts
      const isOneWay = others.length === 0 && host?.addresses.length === 1
      const uses = isOneWay ? Number.POSITIVE_INFINITY : keptUses
      keepNewest(known, domain, { route, at: now, uses }, maxKnown)
      return route
    }
    const site = found.kind === 'failed' ? siteNamed(dnsOf + domain) : nowhere
    return { outcome: (tried) => outcomeOfRoute(found, tried), site }
  }
  return { findRoute, forgetRoutes: () => known.clear() }
}

// A route in use is worked out anew every second. A route to several addresses is worked out anew for every eighth
// mail, so that hosts of one preference come in another order (RFC 5321 §5.1).
const keptMs = 1_000
const keptUses = 7
const maxKnown = 1_000
