/*
 * Owns where a recipient's domain goes now (its MX hosts, its site, the appliance's own servers) and which
 * source address a mail leaves from.
 */

export { type MovedStream, makePoolsElsewhere, type PoolsElsewhere } from './elsewhere.js'
export {
  type ExplainedSite,
  explainSite,
  inForce,
  noRoute,
  routeOfDomain,
  shownPattern,
  shownSlow,
  shownSpan,
  sourcesInWarmUp,
  type WarmingSource,
  warmingSources,
  warmUpInWords,
} from './explain-site.js'
export {
  bindTo,
  type EgressPool,
  type EgressPools,
  type EgressSource,
  makeEgressPools,
  makePoolNames,
} from './pools.js'
export {
  type FindRoute,
  type InsideServer,
  insideSites,
  isDnsSite,
  isInside,
  isInsideLane,
  type MailRoute,
  makeRoutes,
  nowhere,
  type Routes,
  sandboxSite,
  simulatedSite,
  siteInWords,
} from './route.js'
