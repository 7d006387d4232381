/**
 * The MTA: one thread's share of the queue, from a due delivery to its outcome on disk.
 * What must hold: nothing is attempted without a lease, no lease outlives its thread's restart,
 * every attempt ends in exactly one settlement, and a slow destination costs the others nothing.
 * See README.md.
 */

export type { OutboundStanding, SiteStanding } from './admission/index.js'
export {
  type Brake,
  brakeInWords,
  endBrakes,
  openBrakes,
  type SiteUsual,
  usualsSince,
} from './brakes/index.js'
export { type Reachability, shardOf } from './claims/index.js'
export { makeSentCopies, makeViewedCopies, type SentCopy } from './content/index.js'
export type { OutboundDeps } from './deps.js'
export {
  atNodes,
  everything,
  leaveToEvidence,
  openSmartHost,
  orderScope,
  readAllScopes,
  type Scope,
  type ShownScope,
  wayInWords,
} from './egress/index.js'
export {
  checkedSite,
  endOrders,
  giveOrder,
  movedTo,
  openOrders,
  orderInWords,
  pastOrders,
  type SiteOrder,
} from './orders/index.js'
export { type Outbound, openOutbound, type ThreadStanding } from './outbound.js'
export * from './rehearsal/index.js'
export {
  type EgressPools,
  type ExplainedSite,
  explainSite,
  inForce,
  makeEgressPools,
  noRoute,
  routeOfDomain,
  sandboxSite,
  shownPattern,
  shownSlow,
  shownSpan,
  simulatedSite,
  sourcesInWarmUp,
  type WarmingSource,
  warmingSources,
  warmUpInWords,
} from './routing/index.js'
export * from './shaping/index.js'
