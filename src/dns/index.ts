/*
 * Owns the questions that Posthorn asks the DNS, and which of the answers it will connect to.
 * What must hold: a failure to get an answer is never taken for an answer (`failed` is temporary,
 * `none` and `nxdomain` are definite); every lookup ends within its budget; no route leads to an
 * address that the operator's own network or this machine answers, unless configuration says so.
 */
export {
  canonicalAddress,
  isPublicAddress,
  liesWithin,
  parseCidrs,
  reverseLabels,
} from './address.js'
export { type CacheLimits, cachingResolver } from './cache.js'
export { answerLookup, hostAddresses, pinned } from './host.js'
export { nodeLookup } from './node-lookup.js'
export {
  canonicalName,
  type DnsAnswer,
  type DnsQuestion,
  isBelow,
  type MxRecord,
  type Resolver,
  type TlsaRecord,
  type ValidatedAnswer,
  type ValidatedResolver,
} from './resolver.js'
export { asciiName, type MxHost, type MxRoute, type RouteOptions, routeToMx } from './route.js'
export { type StaticHost, type StaticRecords, staticResolver } from './static.js'
export { type SystemResolverOptions, systemResolver } from './system.js'
export { type TxtChange, updateZone, zoneAt } from './update.js'
export { type ValidatingResolverOptions, validatingResolver } from './validating.js'
