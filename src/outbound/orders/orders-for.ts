import type { StreamKey } from '../../deliveries/index.js'
import type { SiteName } from '../shaping/index.js'
import type { SiteOrder } from './site-order.js'

/** The orders for the mail of one stream. */
export interface SiteOrdersOf {
  hold?: SiteOrder | undefined
  /** By it the mail leaves from another pool than usual. */
  move?: SiteOrder | undefined
}

const nothing: SiteOrdersOf = {}

/** Which of the orders in force are for this mail. */
export function ordersFor(
  inForce: readonly SiteOrder[],
  mail: StreamKey,
  site: Pick<SiteName, 'key' | 'provider'>,
): SiteOrdersOf {
  if (inForce.length === 0) return nothing
  const own = inForce.filter((order) => isMeant(order, mail, site))
  return {
    hold: own.find(({ kind }) => kind === 'hold'),
    // Of several orders the newest counts.
    move: own.filter(({ kind }) => kind === 'pool').sort((a, b) => b.id - a.id)[0],
  }
}

const isMeant = (
  { site, account_id: account, class: of }: SiteOrder,
  mail: StreamKey,
  { key, provider }: Pick<SiteName, 'key' | 'provider'>,
): boolean =>
  (site === mail.lane || site === key || site === provider) &&
  (account === null || account === mail.accountId) &&
  (of === null || of === mail.class)
