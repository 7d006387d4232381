/**
 * An operator's word on mail to a site or a recipients' domain: it waits, or leaves from another pool, until a time.
 * What must hold: mail that comes meanwhile is under the order too; each thread knows of it within seconds; it ends
 * by itself, whichever thread runs; without an order the cost is one comparison for each stream that gets in line.
 */
export { checkedSite } from './checked-site.js'
export { makeOrders, type OrdersInForce } from './in-force.js'
export { movedTo } from './moved-to.js'
export {
  endOrders,
  giveOrder,
  type NewOrder,
  openOrders,
  orderInWords,
  pastOrders,
  type SiteOrder,
} from './site-order.js'
