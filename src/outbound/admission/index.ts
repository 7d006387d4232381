/*
 * Owns 'may a mail start now, and if not, why and until when': which streams have something due, where
 * it goes, whose turn it is, and whether the site, the source address and the connections have room.
 * See README.md for the drawing.
 */
export { makeBottleneck } from './bottleneck.js'
export { serverOf } from './connection-shares.js'
export {
  type DeliverySlot,
  openRelaySlots,
  openSiteSlots,
  smartHostsSite,
} from './delivery-slots.js'
export { explainGate, type LiveGate } from './explain.js'
export { makeHeavyRoom } from './heavy.js'
export { classes, type Lane, makeLanes, type Stream } from './lanes.js'
export { type Admitted, makePaths } from './paths.js'
export { makeRouting } from './site-lookups.js'
export {
  type OutboundStanding,
  type SiteStanding,
  standingSites,
  type ThreadStanding,
} from './standing.js'
