import { isRecent } from '../../clock/index.js'
import type { Egress, Relays } from '../egress/index.js'
import { type OrdersInForce, orderInWords } from '../orders/index.js'
import { type EgressPools, isDnsSite, isInsideLane, type PoolsElsewhere } from '../routing/index.js'
import type { Shaping, SiteName } from '../shaping/index.js'
import { serverOf } from './connection-shares.js'
import { openRelaySlots, openSiteSlots, smartHostsSite } from './delivery-slots.js'
import type { PathTo } from './paths.js'
import { type Lane, type Stream, secondOf } from './waiting.js'

/** What decides where a stream stands in line. */
export interface DestinationOptions {
  poolOf: EgressPools
  /** Pools whose addresses belong to other nodes. */
  elsewhere: Pick<PoolsElsewhere<Stream>, 'of'>
  /** What the operator has ordered for a site or a domain. */
  orders: Pick<OrdersInForce, 'of'>
  shaping: Shaping
  egress: Pick<Egress, 'wayTo'>
  /** Undefined: there is no smart host. */
  relays: Relays | undefined
}

/**
 * At which path a stream stands in line: at its site's, or on the failover way at the smart hosts'. Mail that the
 * operator holds stands at a path of its own. Its gate is closed until the order ends; then all streams stand anew.
 */
export function makePathFinder(options: DestinationOptions) {
  const { poolOf, elsewhere, orders, shaping, egress, relays } = options
  return (stream: Stream, site: SiteName): PathTo => {
    const { accountId, class: of, lane } = stream
    const { hold, move } = orders.of({ lane: lane.name, accountId, class: of }, site)
    if (hold !== undefined) {
      const held = { gate: 'hold', until: hold.until, why: orderInWords(hold) } as const
      return { key: `held ${hold.id}`, site: site.key, open: () => ({ take: () => held }) }
    }
    const wanted = (move && poolOf.named(move.pool ?? '')) ?? poolOf(accountId, of)
    // These sites stay inside, whatever the way out is.
    const isOwn = isInsideLane(lane.name)
    const why = isOwn ? undefined : elsewhere.of(stream, wanted)
    if (why !== undefined) {
      const held = { gate: 'away', until: null, why } as const
      return {
        key: `away ${wanted.name} ${site.key}`,
        site: site.key,
        open: () => ({ take: () => held }),
      }
    }
    const pool = wanted.turns.length > 0 ? wanted : poolOf.usual
    const isTurned = !isOwn && egress.wayTo(site.key, lane.name) === 'failover'
    if (isTurned && relays !== undefined) {
      const key = `${pool.name} ${smartHostsSite}`
      return { key, site: smartHostsSite, open: () => openRelaySlots(relays, pool) }
    }
    const key = `${pool.name} ${site.key}`
    return { key, site: site.key, open: () => openSiteSlots(shaping, site, pool) }
  }
}

/** Writes down where the lane's mail goes: its site, and the server that it will connect to first. */
export function locate(
  lane: Lane,
  { site, addresses, now }: { site: SiteName; addresses: readonly string[]; now: number },
): void {
  lane.site = site
  const servers = addresses.map(serverOf)
  // The server that the lane last connected to is surer than the first one in the list.
  if (!servers.some((server) => server === lane.server)) lane.server = servers[0]
  lane.routedSecond = secondOf(now)
}

// A site is looked up anew after so long, so that a domain whose MXs have moved gets to its new site.
const routeAgainSeconds = 300

/** Whether the lane's site is not known, or was looked up too long ago to claim by it. */
export const isStale = ({ site, routedSecond }: Lane, now: number): boolean =>
  site === undefined ||
  isDnsSite(site.key) ||
  !isRecent(routedSecond, secondOf(now), routeAgainSeconds)
