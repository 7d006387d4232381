import type { Claimed } from '../deliveries/index.js'
import { type MxHost, routeToMx } from '../dns/index.js'
import type { OutboundDeps } from './deps.js'
import { type Outcome, outcomeOfRoute } from './outcome.js'

/** Where a delivery goes. Destinations whose MXs are the same hosts are one site. */
export type Route = { site: string; hosts: readonly MxHost[] } | { outcome: Outcome }

/** `direct` asks the DNS; `sandbox` always leads to the built-in inbox. */
export async function findRoute(deps: OutboundDeps, claimed: Claimed): Promise<Route> {
  const { config, sandbox } = deps
  if (config.route === 'sandbox') {
    if (sandbox === undefined) throw new Error('The sandbox route needs the sandbox inbox')
    const host = { exchange: 'localhost', preference: 0, addresses: [sandbox.host] }
    return { site: 'sandbox', hosts: [host] }
  }
  const route = await routeToMx(deps.resolver, claimed.lane, {
    random: deps.random,
    allowPrivate: config.allowPrivateAddresses,
    ownAddresses: config.sourceAddresses,
    ipFamily: config.ipFamily,
  })
  if (route.kind !== 'hosts') return { outcome: outcomeOfRoute(route, claimed.lastReply) }
  const site = route.hosts.map((host) => host.exchange).sort()
  return { site: site.join(' '), hosts: route.hosts }
}
