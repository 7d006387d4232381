import type { Config } from '../../config/index.js'
import type { StreamKey } from '../../deliveries/index.js'
import type { Resolver } from '../../dns/index.js'
import type { Read } from '../../store/index.js'
import { isInsideLane, nowhere, routeOfDomain } from '../routing/index.js'
import { type ShapingData, siteOf } from '../shaping/index.js'
import { ordersFor } from './orders-for.js'
import { openOrders, type SiteOrder } from './site-order.js'

/** What tells which order mail is under; the resolver and the shaping are opened only where there is an order. */
export interface MovedDeps {
  read: Read
  now: number
  outbound: Config['outbound']
  shaping: () => ShapingData
  resolver: () => Resolver
}

/**
 * The order by which this mail leaves from another pool than usual, whether or not it is due; undefined: from its own.
 * The threads go by the same `ordersFor`.
 */
export async function movedTo(deps: MovedDeps, mail: StreamKey): Promise<SiteOrder | undefined> {
  const { read, now, outbound } = deps
  if (outbound.route === 'sandbox' || isInsideLane(mail.lane)) return undefined
  const orders = (await openOrders(read, now)).filter(({ kind }) => kind === 'pool')
  if (orders.length === 0) return undefined
  const route = await routeOfDomain(deps.resolver(), mail.lane, outbound)
  // Where the DNS fails, orders for the domain itself are known all the same.
  const site = route.kind === 'hosts' ? siteOf(deps.shaping(), route.mx, mail.lane) : nowhere
  const { move } = ordersFor(orders, mail, site)
  const pool = move?.pool ?? ''
  // An order for a pool that the settings have no more moves nothing.
  return pool === 'default' || Object.hasOwn(outbound.pools, pool) ? move : undefined
}
