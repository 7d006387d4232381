import { allSourceAddresses } from '../config/index.js'
import { type MxHost, routeToMx } from '../dns/index.js'
import type { OutboundDeps } from './deps.js'
import { type Outcome, outcomeOfRoute } from './outcome.js'
import type { Shaping, SiteName } from './shaping/index.js'

export type Site = SiteName

/** Where a recipient domain's mail goes now. */
export type Route =
  | { hosts: readonly MxHost[]; site: Site }
  /** Nowhere: what that means for a delivery whose last reply is given. */
  | { outcome: (lastReply: string | null) => Outcome; site: Site }

export type FindRoute = (domain: string) => Promise<Route>

// Not host names, so nobody's tables fit them.
const siteNamed = (key: string): Site => ({
  key,
  provider: undefined,
  mx: undefined,
  domain: undefined,
})
export const sandboxSite = siteNamed('sandbox')
const nowhere = siteNamed('nowhere')

/**
 * `direct` asks the DNS; `sandbox` always leads to the built-in inbox. A domain whose DNS fails is a
 * site of its own until it answers, parked and probed as one whose servers fail.
 */
export function makeFindRoute(deps: OutboundDeps, shaping: Pick<Shaping, 'siteOf'>): FindRoute {
  const { config, sandbox } = deps
  if (config.route === 'sandbox') {
    if (sandbox === undefined) throw new Error('The sandbox route needs the sandbox inbox')
    const host = { exchange: 'localhost', preference: 0, addresses: [sandbox.host] }
    return async () => ({ site: sandboxSite, hosts: [host] })
  }
  const options = {
    random: deps.random,
    allowPrivate: config.allowPrivateAddresses,
    ownAddresses: allSourceAddresses(config),
    ipFamily: config.ipFamily,
  }
  return async (domain) => {
    const route = await routeToMx(deps.resolver, domain, options)
    if (route.kind === 'hosts') {
      return { hosts: route.hosts, site: shaping.siteOf(route.mx, domain) }
    }
    const site = route.kind === 'failed' ? siteNamed(`dns of ${domain}`) : nowhere
    return { outcome: (lastReply) => outcomeOfRoute(route, lastReply), site }
  }
}
