/**
 * The MTA: one thread's share of the queue, from a due delivery to its outcome on disk.
 * What must hold: nothing is attempted without a lease, no lease outlives its thread's restart,
 * every attempt ends in exactly one settlement, and a slow destination costs the others nothing.
 * See README.md.
 */
export type { Contact } from './contact.js'
export type { OutboundDeps } from './deps.js'
export { type Outbound, openOutbound, shardOf } from './dispatch.js'
export {
  everything,
  leaveToEvidence,
  openSmartHost,
  orderScope,
  readScopes,
  type Scope,
  wayInWords,
} from './egress/index.js'
export {
  type ExplainedSite,
  explainSite,
  inForce,
  noRoute,
  routeOfDomain,
  shownSlow,
  shownSpan,
  type WarmingSource,
  warmingSources,
} from './explain-site.js'
export { plainTextOf } from './plain-text.js'
export { makeSentCopies, type SentCopy } from './sent-copy.js'
export * from './shaping/index.js'
export type { SiteStanding, Standing, ThreadStanding } from './standing-sites.js'
